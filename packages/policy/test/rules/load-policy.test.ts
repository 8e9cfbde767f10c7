import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkCommand } from "../../src/rules/check-command.js";
import { MAX_RULE_FILE_BYTES, MAX_RULE_FILES_PER_LAYER } from "../../src/rules/limits.js";
import { loadRulePolicy } from "../../src/rules/load-policy.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rules-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function writeLayer(name: string, files: Record<string, string | Buffer>): { directory: string } {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  return { directory };
}

const rule = (program: string, why: string) => `prefix_rule(["${program}"], justification="${why}")\n`;

describe("loadRulePolicy", () => {
  it("reads layers in their order and the files of each by name", async () => {
    const system = writeLayer("system", { "z.rules": rule("a", "1") });
    const user = writeLayer("user", { "b.rules": rule("a", "3"), "a.rules": rule("a", "2"), "B.txt": "syntax error" });
    const project = writeLayer("project", { "default.rules": rule("a", "4") });
    const policy = await loadRulePolicy([system, user, project]);
    expect(policy.broken).toEqual([]);
    expect(policy.rules.map(({ justification }) => justification)).toEqual(["1", "2", "3", "4"]);
    expect(policy.rules[1]?.origin).toEqual({ file: join(root, "user", "a.rules"), line: 1 });
  });

  it("takes a directory that is not there for an empty one", async () => {
    const policy = await loadRulePolicy([{ directory: join(root, "none") }]);
    expect(policy).toMatchObject({ rules: [], broken: [] });
  });

  it("lets a later host_executable replace an earlier one", async () => {
    const user = writeLayer("user", { "a.rules": `${rule("git", "x")}host_executable("git", ["/bin/git"])\n` });
    const project = writeLayer("project", { "a.rules": 'host_executable("git", ["/opt/git"])\n' });
    const policy = await loadRulePolicy([user, project]);
    const check = (path: string) => checkCommand(policy, [path], { resolveHostExecutables: true }).decision;
    expect([check("/bin/git"), check("/opt/git")]).toEqual([undefined, "allow"]);
  });

  it("uses the other files beside one that does not load", async () => {
    const user = writeLayer("user", { "a.rules": rule("ls", "x"), "b.rules": 'prefix_rule(["rm"], "forbidden"' });
    const policy = await loadRulePolicy([user]);
    expect(policy.broken.map(({ message }) => message)).toEqual([
      `${join(root, "user", "b.rules")}:1:12: this bracket is not closed. Close it.`,
    ]);
    expect(checkCommand(policy, ["ls"]).decision).toBe("allow");
    expect(checkCommand(policy, ["rm"]).decision).toBe("prompt");
    expect(checkCommand(policy, ["cp"]).decision).toBeUndefined();
  });

  it.each([
    ["bytes that are no UTF-8", Buffer.from([0x23, 0xff, 0xfe]), /cannot be read/],
    ["too many bytes", Buffer.alloc(MAX_RULE_FILE_BYTES + 1, "#"), /1048577 bytes, the limit is 1048576 bytes/],
  ])("asks for everything after %s", async (_name, content, message) => {
    const policy = await loadRulePolicy([writeLayer("user", { "a.rules": content })]);
    expect(policy.broken[0]?.message).toMatch(message);
    expect(checkCommand(policy, ["anything"]).decision).toBe("prompt");
  });

  it("asks for everything when a file leads nowhere", async () => {
    const user = writeLayer("user", {});
    symlinkSync(join(root, "gone"), join(user.directory, "a.rules"));
    const policy = await loadRulePolicy([user]);
    expect(policy.broken[0]?.file).toBe(join(user.directory, "a.rules"));
    expect(checkCommand(policy, ["anything"]).decision).toBe("prompt");
  });

  it("asks for everything when a layer has too many files", async () => {
    const names = Array.from({ length: MAX_RULE_FILES_PER_LAYER + 1 }, (_, index) => [`${index}.rules`, ""]);
    const policy = await loadRulePolicy([writeLayer("user", Object.fromEntries(names))]);
    expect(policy.broken[0]?.message).toContain("257 rule files, the limit is 256 files");
    expect(checkCommand(policy, ["anything"]).decision).toBe("prompt");
  });

  it("a byte order mark and CRLF change nothing; a second mark is an error with its place", async () => {
    const text = `\ufeff${rule("a", "b")}\r\n# end\r\n`;
    const policy = await loadRulePolicy([writeLayer("user", { "a.rules": text, "b.rules": `\ufeff${text}` })]);
    expect(policy.rules).toHaveLength(1);
    expect(policy.broken.map(({ message }) => message)).toEqual([expect.stringMatching(/b\.rules:1:1: the character/)]);
  });
});
