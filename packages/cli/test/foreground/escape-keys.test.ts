import { describe, expect, it } from "vitest";
import { EscapeKeys } from "../../src/foreground/escape-keys.js";

const read = (...pieces: string[]) => {
  const keys = new EscapeKeys();
  return pieces.map((piece) => keys.read(Buffer.from(piece)));
};

describe("EscapeKeys", () => {
  it.each([
    [["~."], "tilde"],
    [["~", "."], "tilde"],
    [["ls\r~."], "tilde"],
    [["ls\n~", "."], "tilde"],
    [["\u0003~."], "tilde"],
    [["\u0003\u0003"], "interrupt twice"],
    [["ls", "\u0003", "\u0003"], "interrupt twice"],
    [["\u0003"], "interrupt"],
    [["~~."], undefined],
    [["ls ~."], undefined],
    [["~ ."], undefined],
    [["\u0003", "ls", "\u0003"], "interrupt"],
    [["."], undefined],
    [[""], undefined],
  ])("finds in %j: %s", (pieces, found) => {
    expect(read(...pieces).at(-1)).toBe(found);
  });
});
