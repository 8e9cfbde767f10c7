/**
 * Parses YAML-like front matter: `key: value` lines between two `---` lines, with plain, quoted and block (`>`, `|`) values. What is indented
 * below a key without a value is there as `key.inner` as well. Undefined when the text has none.
 */
export function parseFrontMatter(text: string): ReadonlyMap<string, string> | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const end =
    lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : -1;
  if (end === -1) return undefined;
  const values = new Map<string, string>();
  for (let at = 1; at < end; at += 1) {
    const found = KEY.exec(lines[at]!);
    if (found === null) continue;
    const below: string[] = [];
    while (at + 1 < end && /^(?:[ \t]|$)/.test(lines[at + 1]!)) below.push(lines[++at]!.trim());
    const first = found[2]!.trim();
    values.set(found[1]!, readValue(first, below));
    for (const line of first === "" ? below : []) {
      const [, inner, value = ""] = KEY.exec(line) ?? [];
      if (inner !== undefined) values.set(`${found[1]!}.${inner}`, readValue(value.trim(), []));
    }
  }
  return values;
}

const KEY = /^([\w-]+):(?=[ \t]|$)(.*)/s;

function readValue(first: string, below: readonly string[]): string {
  if (/^[|>][+-]?\d?$/.test(first)) return below.join(first.startsWith("|") ? "\n" : " ").trim();
  const value = [first, ...below].join(" ").trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(value) ?? /^'((?:[^']|'')*)'/.exec(value);
  if (quoted === null) return value.split(/(?:^|[ \t])#/, 1)[0]!.trim();
  return value.startsWith("'") ? quoted[1]!.replaceAll("''", "'") : unescapeText(quoted[1]!);
}

const unescapeText = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character === "t" ? "\t" : character));
