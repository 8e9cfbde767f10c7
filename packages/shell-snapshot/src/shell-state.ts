/** The state of a shell after its startup files. */
export interface ShellState {
  /** `status`, `options`, `umask` and others; which ones depends on the shell. */
  texts: ReadonlyMap<string, string>;
  variables: ReadonlyMap<string, string>;
  functions: ReadonlyMap<string, string>;
}

/** Placeholder in report scripts for the nonce that begins and ends the report. */
export const NONCE = "@NONCE@";

/** Prefix of the variables of the report scripts themselves. */
export const OWN_PREFIX = "__codex_";

/**
 * Parses a report: kind, name and text in turn, each followed by a NUL byte, between two nonces that cannot be guessed. Output
 * of startup files comes before. Undefined for an incomplete report.
 */
export function parseState(output: Buffer, nonce: string): ShellState | undefined {
  const begin = Buffer.from(`\n${nonce}\0`);
  const start = output.indexOf(begin);
  const end = output.indexOf(Buffer.from(`${nonce}\0`), start + begin.length);
  if (start < 0 || end < 0) return undefined;
  const fields = output.toString("utf8", start + begin.length, end).split("\0");
  const maps = {
    variable: new Map<string, string>(),
    function: new Map<string, string>(),
    text: new Map<string, string>(),
  };
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [kind = "", name = "", text = ""] = fields.slice(at, at + 3);
    if (kind === "variable" || kind === "function") maps[kind].set(name, text);
    else maps.text.set(kind, text);
  }
  return { texts: maps.text, variables: maps.variable, functions: maps.function };
}

/** Lines of a list that are not in the base. */
export function listNewLines(base: string | undefined, now: string | undefined): string[] {
  const known = new Set(base?.split("\n"));
  return (now ?? "").split("\n").filter((line) => line !== "" && !known.has(line));
}

/**
 * The first difference between two shells, by kind and name; undefined for none. The caller normalizes what differs in every
 * shell, and excludes what is meant to differ by `isCompared`.
 */
export function findDifference(
  one: ShellState,
  other: ShellState,
  isCompared: (kind: string, name: string) => boolean,
) {
  for (const kind of ["texts", "variables", "functions"] as const) {
    for (const name of new Set([...one[kind].keys(), ...other[kind].keys()])) {
      if (!isCompared(kind, name)) continue;
      if (one[kind].get(name) !== other[kind].get(name)) return `${kind.slice(0, -1)} ${name}`;
    }
  }
  return undefined;
}

/** Quotes a word for any POSIX shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
