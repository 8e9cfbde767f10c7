import { expect, it } from "vitest";
import { OutputText } from "../../src/events/output-text.js";

it("keeps the first and the last part of what it is given", () => {
  const text = new OutputText(8);
  for (const piece of ["ab", "cdef", "ghijkl", "m"]) text.append(piece);
  expect(text.toString()).toBe("abcd\n[5 characters are not shown here]\njklm");
  const short = new OutputText(8);
  short.append("abcdefgh");
  expect(short.toString()).toBe("abcdefgh");
});
