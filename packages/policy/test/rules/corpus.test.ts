import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CheckResult, checkCommand } from "../../src/rules/check-command.js";
import { parseRulePolicy } from "../../src/rules/load-policy.js";

/** What `codex execpolicy check` of Codex 0.169.0 answered in the directory /usr. */
interface Row {
  files: Record<string, string>;
  argv: string[];
  resolveHostExecutables?: boolean;
  result?: CheckResult;
  error?: { file?: string; line?: number };
  /** Why the answer here is another one. */
  differs?: string;
}

const rows: Row[] = JSON.parse(readFileSync(new URL("./corpus/rules.json", import.meta.url), "utf8"));
const title = ({ files, argv }: Row) =>
  `${argv.join(" ")} with ${JSON.stringify(Object.values(files).join("\n")).slice(0, 120)}`;
const load = ({ files }: Row) => parseRulePolicy(Object.entries(files).map(([file, text]) => ({ file, text })));
const check = (row: Row) =>
  checkCommand(load(row), row.argv, { resolveHostExecutables: row.resolveHostExecutables ?? false, cwd: "/usr" });

/** Codex lists rules with canonical matching in no fixed order. */
const inAnyOrder = ({ matchedRules, ...rest }: CheckResult) => ({
  ...rest,
  matchedRules: matchedRules.map((match) => JSON.stringify(match)).sort(),
});

describe("rule files beside Codex", () => {
  const same = rows.filter(({ differs }) => differs === undefined);

  it("has a corpus of some size", () => {
    expect(rows.length).toBeGreaterThanOrEqual(300);
    expect(rows.length - same.length).toBeLessThanOrEqual(2);
  });

  const answered = same.filter(({ result }) => result !== undefined);
  it.each(answered.map((row) => [title(row), row] as const))("%s", (_title, row) => {
    expect(load(row).broken).toEqual([]);
    const isCanonical = JSON.stringify(row.files).includes("canonical_matching");
    const order = isCanonical ? inAnyOrder : (result: CheckResult) => result;
    expect(order(check(row))).toEqual(order(row.result ?? { matchedRules: [] }));
  });

  const refused = same.filter(({ error }) => error !== undefined);
  it.each(refused.map((row) => [title(row), row] as const))("refuses %s", (_title, row) => {
    const [broken] = load(row).broken;
    const { file = Object.keys(row.files)[0], line } = row.error ?? {};
    expect(broken?.file).toBe(file);
    expect(broken?.message).toMatch(new RegExp(`^${file}:\\d+:\\d+: .+\\. .+\\.$`, "s"));
    if (line !== undefined) expect(Math.abs(Number(broken?.message.split(":")[1]) - line)).toBeLessThanOrEqual(1);
  });
});
