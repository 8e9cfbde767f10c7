import { RULE_COLUMNS } from "../limits.js";
import { visibleText } from "../text/visible.js";

/** What a run begins with: each line is a name and a value. */
export function renderHeader(
  title: string,
  lines: Readonly<Record<string, string | undefined>>,
  prompt: string,
): string {
  const rule = "-".repeat(RULE_COLUMNS);
  const rows = Object.entries(lines).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${visibleText(value).replaceAll("\n", "\\n")}`],
  );
  return `${[title, rule, ...rows, rule, "user", visibleText(prompt)].join("\n")}\n`;
}
