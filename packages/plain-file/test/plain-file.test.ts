import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readNamedFileSync, readPlainFile, readPlainFileSync } from "../src/index.js";

const directory = mkdtempSync(join(tmpdir(), "plain-file-"));
const at = (name: string) => join(directory, name);
afterAll(() => rmSync(directory, { recursive: true }));

describe.each([
  ["readPlainFile", readPlainFile],
  ["readPlainFileSync", async (path: string, limit: { maxBytes: number }) => readPlainFileSync(path, limit)],
])("%s", (_, read) => {
  it("reads all of a file, also through a link", async () => {
    const bytes = Buffer.from("é".repeat(70_000));
    writeFileSync(at("long"), bytes);
    rmSync(at("link"), { force: true });
    symlinkSync("long", at("link"));
    expect((await read(at("link"), { maxBytes: bytes.length })).equals(bytes)).toBe(true);
    writeFileSync(at("empty"), "");
    expect(await read(at("empty"), { maxBytes: 0 })).toHaveLength(0);
  });

  it.skipIf(process.platform !== "linux")("reads a file that does not tell its size", async () => {
    expect((await read("/proc/self/status", { maxBytes: 100_000 })).toString()).toContain("Pid:");
    await expect(read("/proc/self/status", { maxBytes: 10 })).rejects.toMatchObject({ code: "too_large" });
  });

  it("refuses a file over the limit without reading it", async () => {
    writeFileSync(at("huge"), "");
    truncateSync(at("huge"), 2 ** 40);
    await expect(read(at("huge"), { maxBytes: 1024 })).rejects.toMatchObject({
      code: "too_large",
      message: `the file has ${2 ** 40} bytes, the limit is 1024 bytes`,
    });
  });

  it.skipIf(process.platform === "win32")("never waits for a FIFO, and never reads a device", async () => {
    rmSync(at("fifo"), { force: true });
    execFileSync("mkfifo", [at("fifo")]);
    await expect(read(at("fifo"), { maxBytes: 10 })).rejects.toThrow("it is a FIFO, not a regular file");
    await expect(read("/dev/zero", { maxBytes: 10 })).rejects.toThrow("it is a device, not a regular file");
    rmSync(at("folder"), { recursive: true, force: true });
    mkdirSync(at("folder"));
    await expect(read(at("folder"), { maxBytes: 10 })).rejects.toThrow("it is a directory, not a regular file");
    const server = createServer().listen(at("socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(read(at("socket"), { maxBytes: 10 })).rejects.toThrow();
    await new Promise((resolve) => server.close(resolve));
    await expect(read(at("missing"), { maxBytes: 10 })).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("readNamedFileSync", () => {
  it.skipIf(process.platform === "win32")(
    "waits for a pipe, and reads no more of an endless device than the limit",
    () => {
      execFileSync("mkfifo", [at("pipe")]);
      execFileSync("sh", ["-c", `{ sleep 0.1; printf secret; } > '${at("pipe")}' &`], { stdio: "ignore" });
      expect(readNamedFileSync(at("pipe"), { maxBytes: 6 }).toString()).toBe("secret");
      expect(() => readNamedFileSync("/dev/zero", { maxBytes: 5_000 })).toThrow("the limit is 5000 bytes");
    },
  );
});
