import { visibleText } from "@codex/policy/display";
import { RULE_COLUMNS } from "../limits.js";

/** Renders the header of a run: name and value per line. */
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
