/** The parts of a dotted TOML key, such as `a."b.c".'d'`; undefined when the text is not one. */
export function parseKeyPath(text: string): string[] | undefined {
  const parts: string[] = [];
  let rest = text.trim();
  for (;;) {
    const match = PART.exec(rest);
    if (match === null) return undefined;
    const [whole, bare, literal, basic] = match;
    const part = bare ?? literal ?? readBasic(basic);
    if (part === undefined) return undefined;
    parts.push(part);
    rest = rest.slice(whole.length).trimStart();
    if (rest === "") return parts;
    if (!rest.startsWith(".")) return undefined;
    rest = rest.slice(1).trimStart();
  }
}

const PART = /^(?:([A-Za-z0-9_-]+)|'([^'\n]*)'|("(?:[^"\\\n]|\\.)*"))/;

/** TOML's escapes that JSON lacks do not occur in keys in practice. */
function readBasic(quoted: string | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted ?? "");
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The parts as one dotted key. */
export const renderKeyPath = (parts: readonly string[]): string =>
  parts.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
