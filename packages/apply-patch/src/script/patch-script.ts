/** An `exec_command` script that calls `apply_patch`. */
export type PatchScript =
  /** Only a patch, to be applied in `directory`, absolute or relative to the call's. */
  | { kind: "patch"; text: string; directory: string | undefined }
  /** A patch whose directory needs shell expansion. */
  | { kind: "refused"; reason: string };

/**
 * Parses a script that consists of `apply_patch` (or `applypatch`) with a here-document, optionally after `cd DIRECTORY &&`.
 * The text is never expanded, however the here-document is quoted. Undefined for any other script.
 */
export function parsePatchScript(script: string): PatchScript | undefined {
  const found = COMMAND.exec(script);
  if (found === null) return undefined;
  const { directory, dash, single, double, bare } = found.groups!;
  const word = single ?? double ?? bare!;
  const body = takeBody(script.slice(found[0].length), word, dash !== undefined);
  if (body === undefined) return undefined;
  if (directory === undefined) return { kind: "patch", text: body, directory: undefined };
  const literal = readWord(directory);
  if (literal !== undefined) return { kind: "patch", text: body, directory: literal };
  const reason =
    `apply_patch is not a program, but is taken out of the script, so nothing expands 'cd ${directory}': ` +
    "give the directory as it is, in `workdir`. Nothing was changed.";
  return { kind: "refused", reason };
}

/** Explains how to apply a patch, for a script that calls `apply_patch` among other commands; otherwise undefined. */
export function explainPatchCommand(script: string): string | undefined {
  if (!CALLS.test(script)) return undefined;
  return (
    "apply_patch is a tool, not a program of this shell. Call the tool, or give exec_command a script that is nothing " +
    "but `apply_patch <<'EOF'`, the patch and `EOF` (`cd DIRECTORY &&` may precede it)."
  );
}

const ASSIGNMENT = String.raw`[A-Za-z_]\w*=[\w./:@%+,-]*[ \t]+`;
const WORD = String.raw`'[^'\n]*'|"[^"\n]*"|[^\s'"\\;&|<>()#\x60-]` + String.raw`[^\s'"\\;&|<>()\x60]*`;
const COMMAND = new RegExp(
  String.raw`^\s*(?:cd[ \t]+(?<directory>${WORD})[ \t]*&&\s*)?(?:${ASSIGNMENT})*apply_?patch[ \t]*<<(?<dash>-)?[ \t]*` +
    String.raw`(?:'(?<single>[^'\n]+)'|"(?<double>[^"\n$\x60\\]+)"|(?<bare>[\w.+-]+))[ \t]*\r?\n`,
);
const CALLS = /(?:^|[\n;&|({]|\b(?:then|do|else)\b)[ \t]*apply_?patch(?=[\s<;&|)]|$)/;

/** Body of a here-document; undefined when other text follows it. */
function takeBody(rest: string, word: string, stripsTabs: boolean): string | undefined {
  const lines = rest.split("\n").map((line) => (stripsTabs ? line.replace(/^\t+/, "") : line));
  const end = lines.findIndex((line) => line.replace(/\r$/, "") === word);
  // As in a shell, the end of the script also ends the body.
  if (end === -1) return lines.join("\n");
  if (lines.slice(end + 1).some((line) => line.trim() !== "")) return undefined;
  return lines.slice(0, end).join("\n");
}

/** Literal value of a word; undefined when it needs expansion. */
function readWord(word: string): string | undefined {
  if (word.startsWith("'")) return word.slice(1, -1);
  if (word.startsWith('"')) return /[$\x60\\]/.test(word) ? undefined : word.slice(1, -1);
  return /[$~*?[\]{}!]/.test(word) ? undefined : word;
}
