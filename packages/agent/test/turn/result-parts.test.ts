import { describe, expect, it } from "vitest";
import { MAX_RESULT_IMAGES } from "../../src/limits.js";
import { readParts, withImages } from "../../src/turn/result-parts.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (data: string) => ({ type: "image", data, mimeType: "image/png" });

describe("pictures of a result", () => {
  it("stand behind its text", () => {
    const parts = readParts({ content: [{ type: "text", text: "look" }, image(PNG)] });
    expect(withImages("look\n[image]", parts, "high")).toEqual([
      { type: "input_text", text: "look\n[image]" },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "high" },
    ]);
  });

  it.each([
    ["no base64", image("***")],
    ["no picture, whatever its type says", image("aGk=")],
    ["a sound", { type: "audio", data: PNG, mimeType: "audio/wav" }],
    ["no part", null],
  ])("are only what models take: not %s", (_what, part) => {
    expect(withImages("text", readParts({ content: [part] }), "high")).toBe("text");
  });

  it("are bounded in number", () => {
    const parts = readParts({ content: Array.from({ length: MAX_RESULT_IMAGES + 5 }, () => image(PNG)) });
    expect(withImages("text", parts, "original")).toHaveLength(MAX_RESULT_IMAGES + 1);
  });
});
