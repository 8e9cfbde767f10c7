import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_TOML_FILE_BYTES } from "../src/limits.js";
import { readTomlFile } from "../src/read-toml.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toml files "));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string | Uint8Array): string {
  const file = join(folder, "settings.toml");
  writeFileSync(file, text);
  return file;
}

describe("a file of settings", () => {
  it("has values, and the place of each", async () => {
    const file = await readTomlFile(write('a = 1\n\n[b."c d"]\n  e = "f"\n'));
    expect(file?.table).toEqual({ a: 1, b: { "c d": { e: "f" } } });
    expect(file?.findPlace(["b", "c d", "e"])).toEqual({ line: 4, column: 3 });
    expect(file?.findPlace(["nothing"])).toBeUndefined();
  });

  it("may be missing", async () => {
    expect(await readTomlFile(join(folder, "none.toml"))).toBeUndefined();
  });

  it.each([
    ["not TOML", "a = 1\nb = se cret\n", /:2:\d+: /],
    ["not UTF-8", Buffer.from("a = 1 # \xff", "latin1"), /cannot be read: /],
    ["too large", Buffer.alloc(MAX_TOML_FILE_BYTES + 1, "#"), /has 1048577 bytes, the limit is 1048576 bytes/],
  ])("is an error that names the file where it is %s", async (_, text, reason) => {
    const file = write(text);
    const error = await readTomlFile(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TomlFileError", message: expect.stringMatching(reason) });
    expect(String(error)).toContain(file);
    expect(String(error)).not.toContain("cret");
  });
});

describe("an array of tables", () => {
  it("is addressed by index", async () => {
    const file = await readTomlFile(write("[[x]]\na = 1\n[x.sub]\nb = 1\n[[x]]\n\na = 2\n[x.sub]\nb = 2\n"));
    const line = (...path: (string | number)[]) => file?.findPlace(path)?.line;
    expect([
      line("x", 0, "a"),
      line("x", 1, "a"),
      line("x", 1),
      line("x", 0, "sub", "b"),
      line("x", 1, "sub", "b"),
    ]).toEqual([2, 7, 5, 4, 9]);
    expect([line("x", "a"), line("x", 1, "none")]).toEqual([2, 5]);
  });
});
