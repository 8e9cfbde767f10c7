import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseRuleFile } from "../../policy/src/rules/parse-rule-file.js";
import { StarlarkError } from "../src/errors.js";

/** The result in Codex 0.169.0 of an expression evaluated after a program: its `repr`, or an error. */
interface Row {
  program?: string;
  expression: string;
  value?: string;
  error?: { line: number | null; column: number | null };
  differs?: string;
}

const rows: Row[] = JSON.parse(readFileSync(new URL("./corpus/starlark.json", import.meta.url), "utf8"));

/** Returns the value through the justification of a rule. */
function evaluate({ program, expression }: Row): string | undefined {
  const text = `${program === undefined ? "" : `${program}\n`}prefix_rule(["x"], justification="=" + repr(${expression}))`;
  return parseRuleFile({ file: "a.rules", text }).rules[0]?.justification?.slice(1);
}

const title = ({ program, expression }: Row) =>
  `${program === undefined ? "" : `${JSON.stringify(program)}; `}${expression}`;

describe("expressions evaluate as in Codex 0.169.0", () => {
  const same = rows.filter(({ differs }) => differs === undefined);

  it("has at least 700 rows, of which at most 11 differ", () => {
    expect(rows.length).toBeGreaterThanOrEqual(700);
    expect(rows.length - same.length).toBeLessThanOrEqual(11);
  });

  const valued = same.filter(({ value }) => value !== undefined);
  it.each(valued.map((row) => [title(row), row] as const))("%s", (_title, row) =>
    expect(evaluate(row)).toBe(row.value),
  );

  const failing = same.filter(({ error }) => error !== undefined);
  it.each(failing.map((row) => [title(row), row] as const))("refuses %s", (_title, row) => {
    expect(() => evaluate(row)).toThrow(StarlarkError);
  });
});
