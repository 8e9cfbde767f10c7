import { MAX_WRAPPERS } from "../limits.js";

/** Returns the lines of a patch without wrappers: blank lines, a code fence, a here-document, JSON. */
export function peelPatch(text: string): string[] {
  let lines = trimBlank(splitText(text));
  for (let count = 0; count < MAX_WRAPPERS && !isBegin(lines[0]); count += 1) {
    const inner = withoutFence(lines) ?? withoutHereDocument(lines) ?? withoutJson(lines);
    if (inner === undefined) break;
    lines = trimBlank(inner);
  }
  return lines;
}

/** Whether a line starts a patch. */
export const isBegin = (line: string | undefined): boolean => line?.trim() === "*** Begin Patch";

function splitText(text: string): string[] {
  const lines = text.split("\n");
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function trimBlank(lines: string[]): string[] {
  let [from, to] = [0, lines.length];
  while (from < to && lines[from]!.trim() === "") from += 1;
  while (to > from && lines[to - 1]!.trim() === "") to -= 1;
  return lines.slice(from, to);
}

function withoutFence(lines: readonly string[]): string[] | undefined {
  const fence = /^\s*(`{3,}|~{3,})[\w.+-]*\s*$/.exec(lines[0] ?? "")?.[1];
  return fence !== undefined && lines.length > 1 && lines.at(-1)?.trim() === fence ? lines.slice(1, -1) : undefined;
}

/** `<<'EOF'`, or `apply_patch <<WORD` with any word. */
function withoutHereDocument(lines: readonly string[]): string[] | undefined {
  const found = /^(?:(apply_?patch)\s*)?<<-?\s*(["']?)(\w+)\2$/.exec((lines[0] ?? "").trim());
  const word = found?.[1] === undefined && found?.[3] !== "EOF" ? undefined : found?.[3];
  return word !== undefined && lines.length > 1 && lines.at(-1)?.trim() === word ? lines.slice(1, -1) : undefined;
}

/** Function call arguments, `{ input }`, instead of the plain patch. */
function withoutJson(lines: readonly string[]): string[] | undefined {
  if (!lines[0]?.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(lines.join("\n"));
    if (typeof value !== "object" || value === null || !("input" in value)) return undefined;
    return typeof value.input === "string" ? splitText(value.input) : undefined;
  } catch {
    return undefined;
  }
}
