import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FileLockError } from "../../../file-lock/src/file-lock.js";
import { renderAllowRule } from "../../src/rules/allow-rule.js";
import { parseRuleFile } from "../../src/rules/parse-rule-file.js";
import { SaveRuleError, saveAllowRule } from "../../src/rules/save-rule.js";

const SOURCE = fileURLToPath(new URL("../../src/rules/save-rule.ts", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "save-rule-"));
let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(root, "case-"));
  file = join(directory, "rules", "default.rules");
});
afterAll(() => rmSync(root, { recursive: true }));

const patterns = () =>
  parseRuleFile({ file, text: readFileSync(file, "utf8") }).rules.map(({ first, rest }) => [first, ...rest.flat()]);

function write(text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const rule = (words: readonly string[]) => ({ words, keepsSandbox: false });

describe("saveAllowRule", () => {
  it("makes the file and its directory", async () => {
    expect(await saveAllowRule(file, rule(["git", "push"]))).toBe(true);
    expect(readFileSync(file, "utf8")).toBe('prefix_rule(pattern=["git", "push"], decision="allow", whole=True)\n');
    expect(readdirSync(dirname(file))).toEqual(["default.rules"]);
  });

  it.each([
    ["a final line end", "# mine\n", "# mine\n"],
    ["none", "# mine", "# mine\n"],
    ["no text", "", ""],
    ["Windows line ends", "# mine\r\n", "# mine\r\n"],
  ])("keeps a file with %s and appends one line", async (_name, before, kept) => {
    write(before);
    await saveAllowRule(file, rule(["ls"]));
    expect(readFileSync(file, "utf8")).toBe(`${kept}${renderAllowRule(rule(["ls"]))}\n`);
  });

  it("does not write the same line twice", async () => {
    expect([await saveAllowRule(file, rule(["ls"])), await saveAllowRule(file, rule(["ls"]))]).toEqual([true, false]);
    expect(patterns()).toEqual([["ls"]]);
  });

  it("writes every token so that it is read back the same", async () => {
    const prefix = ['"', "\\", "a\nb", "\t\r", "é😀", "\u0001\u007f\u2028", "#", "{x}", "", "'", "\\n"];
    await saveAllowRule(file, rule(prefix));
    expect(patterns()).toEqual([prefix]);
  });

  it.each([[[]], [["\ud800"]]])("refuses %j", async (prefix) => {
    await expect(saveAllowRule(file, rule(prefix))).rejects.toThrow(SaveRuleError);
    expect(existsSync(file)).toBe(false);
  });

  it("leaves a file that does not load as it is", async () => {
    write("prefix_rule(");
    await expect(saveAllowRule(file, rule(["ls"]))).rejects.toThrow(
      /not saved because the file does not load: .*default\.rules:1:12/,
    );
    expect(readFileSync(file, "utf8")).toBe("prefix_rule(");
    expect(readdirSync(dirname(file))).toEqual(["default.rules"]);
  });
});

describe("the lock of saved rules", () => {
  const lock = () => `${file}.lock`;

  it("is waited for, up to a limit that the error names", async () => {
    write("");
    writeFileSync(lock(), `${process.pid} ${hostname()}\n`);
    let time = 0;
    const save = saveAllowRule(file, rule(["ls"]), { timeoutMs: 50, now: () => (time += 40) });
    await expect(save).rejects.toThrow(FileLockError);
    await expect(save).rejects.toThrow(/default\.rules\.lock: the lock is still held after 50 ms/);
    expect(readFileSync(file, "utf8")).toBe("");
    expect(existsSync(lock())).toBe(true);
  });

  it("is taken over from a process that has ended", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await new Promise((resolve) => child.once("exit", resolve));
    write("");
    writeFileSync(lock(), `${child.pid} ${hostname()}\n`);
    expect(await saveAllowRule(file, rule(["ls"]))).toBe(true);
    expect(readdirSync(dirname(file))).toEqual(["default.rules"]);
  });

  it("is taken over from another host only when it is old", async () => {
    write("");
    writeFileSync(lock(), "1 another-host\n");
    const late = Date.now() + 60_000;
    expect(await saveAllowRule(file, rule(["ls"]), { now: () => late })).toBe(true);
    writeFileSync(lock(), "1 another-host\n");
    await expect(saveAllowRule(file, rule(["cd"]), { timeoutMs: 0 })).rejects.toThrow(FileLockError);
  });
});

describe("several processes", () => {
  const program = join(root, "save.mjs");
  beforeAll(async () => {
    const code = `import { saveAllowRule } from ${JSON.stringify(SOURCE)};
      const [file, name, count] = process.argv.slice(2);
      for (let index = 0; index < Number(count); index += 1) {
        await saveAllowRule(file, { words: [name, String(index)], keepsSandbox: false });
        await saveAllowRule(file, { words: ["shared", String(index)], keepsSandbox: false });
      }`;
    const stdin = { contents: code, resolveDir: root, loader: "ts" as const };
    await build({ stdin, outfile: program, bundle: true, platform: "node", format: "esm", target: "node20" });
  });

  it("save at the same time and lose and repeat nothing", async () => {
    const names = ["one", "two", "three"];
    const count = 15;
    const ends = names.map((name) => {
      const child = spawn(process.execPath, [program, file, name, String(count)], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
    });
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    const expected = [...names, "shared"].flatMap((name) =>
      Array.from({ length: count }, (_, index) => [name, String(index)]),
    );
    expect(patterns().map(String).sort()).toEqual(expected.map(String).sort());
    expect(readdirSync(dirname(file))).toEqual(["default.rules"]);
  });

  it("write through a link to the file it names", async () => {
    write("");
    const link = join(directory, "link.rules");
    symlinkSync(file, link);
    await saveAllowRule(link, rule(["ls"]));
    expect(patterns()).toEqual([["ls"]]);
  });
});
