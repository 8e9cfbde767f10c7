import { expect, it } from "vitest";
import { KeptOutput } from "../src/kept-output.js";

it("names a range that is missing where it is, and counts as truncated", () => {
  const kept = new KeptOutput(1000);
  kept.add(Buffer.from("before"));
  kept.markGap({ from: 6, to: 5006 });
  kept.add(Buffer.from("after"));
  expect(kept.read()).toBe("before\n[bytes 6-5006 of the output are gone]\nafter");
  expect(kept.isTruncated).toBe(true);
});
