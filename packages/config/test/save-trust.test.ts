import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveTrust } from "../src/save-trust.js";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "codex trust ")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = () => join(home, "config.toml");
const save = (path = '/a b/"c"') => saveTrust(home, { toMark: path, trust: undefined });
const added = '[projects."/a b/\\"c\\""]\ntrust_level = "trusted"\n';

describe("saveTrust", () => {
  it.each([
    ["no file", undefined, added],
    ["a file without an end of line", 'model = "x"', `model = "x"\n\n${added}`],
    [
      "other projects",
      '[projects."/x"]\ntrust_level = "untrusted"\n',
      `[projects."/x"]\ntrust_level = "untrusted"\n\n${added}`,
    ],
    ["a table without a level", '[projects."/a b/\\"c\\""]\n', added],
  ])("adds the project to %s", async (_name, before, after) => {
    if (before !== undefined) writeFileSync(file(), before);
    expect(await save()).toBe("saved");
    expect(readFileSync(file(), "utf8")).toBe(after);
    expect(await save()).toBe("kept");
    expect(readFileSync(file(), "utf8")).toBe(after);
    expect(readdirSync(home)).toEqual(["config.toml"]);
  });

  it("keeps the mode of the file, and a link to it", async () => {
    const real = join(home, "real.toml");
    writeFileSync(real, "");
    chmodSync(real, 0o640);
    symlinkSync(real, file());
    await save();
    expect([readFileSync(real, "utf8"), statSync(real).mode & 0o777]).toEqual([added, 0o640]);
  });

  it("changes nothing where it is untrusted, or trusted elsewhere", async () => {
    expect(await saveTrust(home, { toMark: "/a", trust: "untrusted" })).toBe("kept");
    writeFileSync(file(), '[projects."/a"]\ntrust_level = "untrusted"\n');
    expect(await save("/a")).toBe("kept");
    expect(readFileSync(file(), "utf8")).toBe('[projects."/a"]\ntrust_level = "untrusted"\n');
  });

  it.each([
    ["an inline table", 'projects = { "/x" = { trust_level = "trusted" } }\n'],
    ["a file that is no TOML", "= broken\n"],
  ])("leaves %s as it is, and says what to do", async (_name, before) => {
    writeFileSync(file(), before);
    await expect(save()).rejects.toThrow(/config\.toml/);
    expect(readFileSync(file(), "utf8")).toBe(before);
    expect(readdirSync(home)).toEqual(["config.toml"]);
  });
});
