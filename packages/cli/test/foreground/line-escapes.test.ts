import { describe, expect, it } from "vitest";
import { LineEscapes } from "../../src/foreground/line-escapes.js";

/** What is passed of pieces that are typed one after the other, with the escapes in brackets. */
function type(...pieces: readonly string[]): string {
  const escapes = new LineEscapes();
  let told = "";
  for (const piece of pieces) {
    for (let bytes: Uint8Array = Buffer.from(piece); bytes.length > 0; ) {
      const { passed, key, rest } = escapes.read(bytes);
      told += `${passed}${key === undefined ? "" : `[${key}]`}`;
      bytes = rest;
    }
  }
  return told;
}

describe("an escape", () => {
  it.each([
    [["~."], "[leave]"],
    [["~", "."], "[leave]"],
    [["ls\r~."], "ls\r[leave]"],
    [["ls\n", "~", "?", "ls"], "ls\n[help]ls"],
    [["~?~."], "[help][leave]"],
    [["~\u001a"], "[suspend]"],
    [["x\u0003~."], "x\u0003[leave]"],
  ])("%j is one", (pieces, told) => {
    expect(type(...pieces)).toBe(told);
  });

  it.each([
    [["~~."], "~."],
    [["~~", "~."], "~~."],
    [["ls ~."], "ls ~."],
    [["~/bin/x\r"], "~/bin/x\r"],
    [["~", "/"], "~/"],
    [["ä~.\r"], "ä~.\r"],
  ])("%j is none", (pieces, told) => {
    expect(type(...pieces)).toBe(told);
  });
});
