import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRandomSource } from "../src/random.js";

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A source whose device has these bytes, each time from the first one on. */
function sourceOf(bytes: Uint8Array) {
  const directory = mkdtempSync(join(tmpdir(), "codex-random-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "random");
  writeFileSync(file, bytes);
  return createRandomSource(file);
}

describe("random numbers of the kernel", () => {
  it("make a UUID of version 4 with all their other bits", () => {
    expect(sourceOf(new Uint8Array(16)).randomUUID()).toBe("00000000-0000-4000-8000-000000000000");
    expect(sourceOf(new Uint8Array(16).fill(0xff)).randomUUID()).toBe("ffffffff-ffff-4fff-bfff-ffffffffffff");
    const bytes = Uint8Array.from({ length: 16 }, (_, index) => index * 16 + index);
    expect(sourceOf(bytes).randomUUID()).toBe("00112233-4455-4677-8899-aabbccddeeff");
  });

  it("make another UUID each time", () => {
    const { randomUUID } = createRandomSource();
    const made = Array.from({ length: 1_000 }, () => randomUUID());
    expect(made.filter((each) => !VERSION_4.test(each))).toEqual([]);
    expect(new Set(made).size).toBe(made.length);
  });

  it("make every integer of a range, and no other", () => {
    expect(sourceOf(new Uint8Array(6)).randomInt(5, 8)).toBe(5);
    const { randomInt } = createRandomSource();
    const made = new Set(Array.from({ length: 500 }, () => randomInt(-1, 3)));
    expect([...made].sort((a, b) => a - b)).toEqual([-1, 0, 1, 2]);
  });

  it("come from node:crypto without the device, and with one that ends early", () => {
    for (const source of [createRandomSource("/dev/no such device"), sourceOf(new Uint8Array(5))]) {
      expect(source.randomUUID()).toMatch(VERSION_4);
      expect(source.randomBytes(32)).not.toEqual(source.randomBytes(32));
      expect([0, 1]).toContain(source.randomInt(0, 2));
    }
  });
});
