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

  it.each<[string, (string | number)[], { line: number; column: number } | undefined]>([
    ["a key of one table of many", ["x", 1, "id"], { line: 5, column: 1 }],
    ["a key of any table of an array", ["x", "id"], { line: 2, column: 1 }],
    ["a table that lacks the key", ["x", 1, "url"], { line: 4, column: 1 }],
    ["a table that is only implied", ["a"], { line: 7, column: 3 }],
    ["a key in an inline table", ["a", "b", "c", "d"], { line: 8, column: 1 }],
    ["the second key of a table", ["a", "b", "e"], { line: 9, column: 1 }],
    ["a text over lines, and what follows it", ["a", "b", "g"], { line: 12, column: 1 }],
    ["what is only in a text", ["no"], undefined],
    ["nothing", [], undefined],
  ])("finds %s", async (_, path, place) => {
    const lines = [
      "[[x]]",
      "id = 1",
      "",
      "[[x]]",
      "id = 2",
      "",
      "  [a.b]",
      "c = { d = 1 }",
      "e = 1",
      'f = """',
      'no = """',
      "g = 1",
    ];
    expect((await readTomlFile(write(lines.join("\n"))))?.findPlace(path)).toEqual(place);
  });

  it("finds each of 10,000 tables, reading the text once", async () => {
    const count = 10_000;
    const file = await readTomlFile(write(Array.from({ length: count }, (_, id) => `[[x]]\nid = ${id}\n`).join("")));
    const found = Array.from({ length: count }, (_, index) => file?.findPlace(["x", index, "id"])?.line);
    expect(found).toEqual(found.map((_, index) => 2 * index + 2));
  });

  it("may be missing", async () => {
    expect(await readTomlFile(join(folder, "none.toml"))).toBeUndefined();
  });

  it.each([
    ["not TOML", "a = 1\nb = se cret\n", /:2:\d+: /],
    ["not UTF-8", Buffer.from("a = 1 # \xff", "latin1"), /it is not UTF-8 text: save it as UTF-8/],
    ["UTF-16", Buffer.from("\ufeffa = 1", "utf16le"), /it is not UTF-8 text: save it as UTF-8/],
    ["too large", Buffer.alloc(MAX_TOML_FILE_BYTES + 1, "#"), /has 1048577 bytes, the limit is 1048576 bytes/],
  ])("is an error that names the file where it is %s", async (_, text, reason) => {
    const file = write(text);
    const error = await readTomlFile(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TomlFileError", message: expect.stringMatching(reason) });
    expect(String(error)).toContain(file);
    expect(String(error)).not.toContain("cret");
  });
});

it("finds keys of a text whose lines end with CR and LF, beside comments", async () => {
  const file = await readTomlFile(write("a = 1 # one\r\n[b] # two\r\nc = 'd' # [e]\r\n[[f]]\r\n"));
  expect([["a"], ["b", "c"], ["f", 0], ["e"]].map((path) => file?.findPlace(path)?.line)).toEqual([1, 3, 4, undefined]);
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
