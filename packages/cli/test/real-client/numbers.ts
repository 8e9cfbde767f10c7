import { createHash } from "node:crypto";
import { expect } from "vitest";
import { outputOf } from "./calls.js";

export const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Five megabytes that are the same nowhere, and how to print them. */
export const PRINT_NUMBERS = "seq 1000000 | head -c 5000000";
export const NUMBERS = Array.from({ length: 1_000_000 }, (_, index) => `${index + 1}\n`)
  .join("")
  .slice(0, 5_000_000);

/** As much of a command's output as the client keeps for the model, half of it from each end, bytes. */
const KEPT_BYTES = 1_048_576;

/** The result of a command that printed the numbers: it ended well, and the client had them to the byte. */
export function expectNumbers(result: string): void {
  const [head = "", omitted, tail = ""] = outputOf(result).split(/\n\.\.\. (\d+) bytes omitted \.\.\.\n/);
  expect(result).toContain("Process exited with code 0");
  expect(Number(omitted) + KEPT_BYTES).toBe(NUMBERS.length);
  expect(sha256(head.slice(head.indexOf("\n1\n") + 1))).toBe(sha256(NUMBERS.slice(0, KEPT_BYTES / 2)));
  expect(sha256(tail)).toBe(sha256(NUMBERS.slice(-KEPT_BYTES / 2)));
}
