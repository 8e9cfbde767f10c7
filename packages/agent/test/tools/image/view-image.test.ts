import { join } from "node:path";
import { detectImage, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE } from "@codex/file-tools";
import { describe, expect, it } from "vitest";
import { createViewImageTool } from "../../../src/tools/image/view-image.js";
import { useHost } from "../../host.js";

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const text = (latin1: string) => Buffer.from(latin1, "latin1");
const be16 = (value: number) => String.fromCharCode(value >> 8, value & 0xff);
const le16 = (value: number) => String.fromCharCode(value & 0xff, value >> 8);
const le24 = (value: number) => le16(value & 0xffff) + String.fromCharCode(value >> 16);
const riff = (chunk: string, rest: string) => text(`RIFF....WEBP${chunk}....${rest}`.padEnd(40, "\0"));
const jpeg = (...segments: string[]) => text(`\xff\xd8${segments.join("")}`);
const frame = (marker: string, width: number, height: number) =>
  `\xff${marker}${be16(11)}\x08${be16(height)}${be16(width)}\x01\x01\x11\x00`;

describe("recognizing an image", () => {
  it.each<[name: string, bytes: Buffer, expected: object]>([
    ["PNG", Buffer.from(PNG, "base64"), { mediaType: "image/png", width: 1, height: 1 }],
    ["GIF", text(`GIF89a${le16(300)}${le16(2)}`), { mediaType: "image/gif", width: 300, height: 2 }],
    [
      "lossy WebP",
      riff("VP8 ", `...\x9d\x01\x2a${le16(640)}${le16(480)}`),
      { mediaType: "image/webp", width: 640, height: 480 },
    ],
    [
      "lossless WebP",
      riff("VP8L", `\x2f${le16(99 | ((49 & 3) << 14))}${le16(49 >> 2)}`),
      { mediaType: "image/webp", width: 100, height: 50 },
    ],
    [
      "extended WebP",
      riff("VP8X", `\0\0\0\0${le24(70_000 - 1)}${le24(5 - 1)}`),
      { mediaType: "image/webp", width: 70_000, height: 5 },
    ],
    [
      "JPEG",
      jpeg(`\xff\xe0${be16(4)}ab`, `\xff\xff\xfe${be16(3)}c`, frame("\xc2", 400, 300)),
      { mediaType: "image/jpeg", width: 400, height: 300 },
    ],
  ])("%s", (_, bytes, expected) => {
    expect(detectImage(bytes)).toEqual(expected);
  });

  it.each<[name: string, bytes: Buffer]>([
    ["nothing", text("")],
    ["text", text("hello")],
    ["SVG", text("<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ["a PNG that ends in its header", Buffer.from(PNG, "base64").subarray(0, 20)],
    ["a JPEG without a frame", jpeg(`\xff\xe0${be16(4)}ab`, "\xff\xda")],
    ["a JPEG that ends", jpeg(`\xff\xe0${be16(40_000)}ab`)],
    ["a JPEG of zeros", jpeg("\xff\x00")],
    ["RIFF of another kind", riff("AVI ", "")],
  ])("not %s", (_, bytes) => {
    expect(detectImage(bytes)).toBeUndefined();
  });

  it("any bytes without an exception", () => {
    for (const image of [Buffer.from(PNG, "base64"), jpeg(frame("\xc0", 1, 1)), riff("VP8X", "")]) {
      for (let length = 0; length <= image.length; length += 1) detectImage(image.subarray(0, length));
    }
  });
});

describe("view_image", () => {
  const host = useHost();
  const call = async (args: Record<string, unknown>, refused?: string) => {
    const shown: unknown[] = [];
    const tool = createViewImageTool({
      environments: {
        ids: ["box"],
        get: async (id) => (id === "box" ? { id, files: host.watch(), cwd: "/" } : undefined),
      },
      policy: { sandboxOf: async () => (refused === undefined ? { fileSandbox: undefined } : { refused }) },
      originalImages: false,
    });
    const signal = new AbortController().signal;
    const show = (details: unknown) => void shown.push(details);
    return {
      ...(await tool.call(args, {
        callId: "c",
        signal,
        cwd: host.root,
        environment: "box",
        getSelected: () => ({ cwd: host.root }),
        show,
        saveCheckpoint: async () => {},
      })),
      shown,
    };
  };

  it("answers with the bytes of the file, and shows an item", async () => {
    host.put({ "p.txt": { base64: PNG } });
    const { output, shown, status } = await call({ path: "p.txt" });
    expect(output).toEqual([{ type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "high" }]);
    expect([status, shown]).toEqual([
      undefined,
      [{ kind: "image", path: join(host.root, "p.txt"), environment: "box" }],
    ]);
    expect(host.calls.map((one) => one.split(" ")[0])).toEqual(["getMetadata", "readFile"]);
  });

  it("encodes large files", async () => {
    const bytes = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(100_000, "x")]);
    host.put({ "p.png": { base64: bytes.toString("base64") } });
    const { output } = await call({ path: join(host.root, "p.png") });
    expect(output).toMatchObject([{ image_url: `data:image/png;base64,${bytes.toString("base64")}` }]);
  });

  const wide = text(`GIF89a${le16(MAX_IMAGE_SIDE + 1)}${le16(2)}`).toString("base64");
  it.each<[args: Record<string, unknown>, pattern: RegExp]>([
    [{}, /`path` is missing/],
    [{ path: 5 }, /`path` is missing/],
    [{ path: "nope.png" }, /nope\.png` does not exist/],
    [{ path: "d" }, /d` is a directory/],
    [{ path: "t.svg" }, /t\.svg` is not an image/],
    [{ path: "big" }, new RegExp(`has ${MAX_IMAGE_BYTES + 1} bytes; an image has at most ${MAX_IMAGE_BYTES}`)],
    [{ path: "wide" }, new RegExp(`${MAX_IMAGE_SIDE + 1} × 2 pixels; an image has at most ${MAX_IMAGE_SIDE}`)],
    [{ path: "t.svg", environment_id: "other" }, /no environment 'other'; there are: box/],
  ])("refuses %j", async (args, pattern) => {
    host.put({ "d/x": "", "t.svg": "<svg/>", big: "x".repeat(MAX_IMAGE_BYTES + 1), wide: { base64: wide } });
    expect(await call(args)).toMatchObject({ status: "failed", output: expect.stringMatching(pattern) });
  });

  it("reads nothing where the policy refuses", async () => {
    expect((await call({ path: "p" }, "no workspace")).output).toBe("view_image: no workspace.");
    expect(host.calls).toEqual([]);
  });
});
