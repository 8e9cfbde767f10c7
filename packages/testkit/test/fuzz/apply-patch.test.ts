import { applyChunks, getPatchPaths, PatchError, parsePatch, parsePatchScript, planPatch } from "@codex/apply-patch";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { check } from "./support.js";

/** Quick ones: a patch or two each. */
const RUNS_IN_SUITE = 1_000;

/** A file of few different lines, so that they repeat. */
interface TextFile {
  lines: string[];
  newline: string;
  hasFinalNewline: boolean;
  hasMark: boolean;
}

const line = fc.oneof(
  fc.constantFrom("", "a", "b", "a ", "\ta", "}", "*** End Patch", "@@", "+x", "é “x”"),
  fc.string(),
);
const lines = fc.array(
  line.map((text) => text.replaceAll(/[\r\n]/g, "")),
  { maxLength: 12 },
);
const file: fc.Arbitrary<TextFile> = fc.record({
  lines,
  newline: fc.constantFrom("\n", "\r\n", "\r"),
  hasFinalNewline: fc.boolean(),
  hasMark: fc.boolean(),
});

const render = ({ lines, newline, hasFinalNewline, hasMark }: TextFile): string =>
  (hasMark ? "\ufeff" : "") + lines.join(newline) + (hasFinalNewline && lines.length > 0 ? newline : "");

/** What becomes of each line of a file, and what is put before it; the last entry is its end. */
const edits = fc.array(
  fc.record({
    isRemoved: fc.boolean(),
    added: fc.option(
      lines.map((all) => all.slice(0, 2)),
      { nil: [] },
    ),
  }),
  {
    minLength: 13,
    maxLength: 13,
  },
);
type Edits = { isRemoved: boolean; added: string[] }[];

/** One chunk over the whole file: unified without headers. */
function toChunk(before: readonly string[], edit: Edits, context: boolean): { chunk: string[]; after: string[] } {
  const chunk: string[] = [];
  const after: string[] = [];
  for (let at = 0; at <= before.length; at += 1) {
    const { isRemoved, added } = edit[at]!;
    for (const text of added) chunk.push(`+${text}`);
    after.push(...added);
    if (at === before.length) break;
    const isKept = context || !isRemoved;
    chunk.push(`${isKept ? " " : "-"}${before[at]}`);
    if (isKept) after.push(before[at]!);
  }
  return { chunk, after };
}

const change = fc.oneof(
  fc.record({ kind: fc.constant("update" as const), file, edits, isMoved: fc.boolean(), keepsAll: fc.boolean() }),
  fc.record({ kind: fc.constant("delete" as const), file }),
  fc.record({ kind: fc.constant("add" as const), lines }),
  fc.record({ kind: fc.constant("none" as const), file }),
);

/** What a reader of the rules expects of lines that were split and joined again. */
function finish(all: readonly string[], { newline, hasMark, lines }: TextFile): string {
  const ends = lines.length > 1 || render({ lines, newline, hasMark: false, hasFinalNewline: true }).length > 0;
  const end = ends ? newline : "\n";
  return (hasMark ? "\ufeff" : "") + all.map((text) => text + end).join("");
}

/** Whether joining and splitting give the lines back: none is lost at the end, and there is a line end to take. */
const isPlain = ({ lines, hasFinalNewline }: TextFile): boolean =>
  (hasFinalNewline || (lines.at(-1) ?? "x") !== "") &&
  (lines.length > 1 || hasFinalNewline) &&
  lines[0]?.[0] !== "\ufeff";

describe("patches", () => {
  it("created from two trees turn one into the other", () =>
    check(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        const before = new Map<string, string>();
        const after = new Map<string, string>();
        const patch: string[] = [];
        for (const [index, made] of changes.entries()) {
          const path = `/ws/d${index % 2}/f ${index}`;
          if (made.kind === "add") {
            patch.push(`*** Add File: ${path.slice("/ws/".length)}`, ...made.lines.map((text) => `+${text}`));
            after.set(path, made.lines.map((text) => `${text}\n`).join(""));
            continue;
          }
          if (made.kind === "update" && !isPlain(made.file)) continue;
          before.set(path, render(made.file));
          if (made.kind === "none") after.set(path, render(made.file));
          else if (made.kind === "delete") patch.push(`*** Delete File: ./x/../${path.slice("/ws/".length)}`);
          else {
            const { chunk, after: edited } = toChunk(made.file.lines, made.edits, made.keepsAll);
            if (chunk.length === 0) {
              after.set(path, render(made.file));
              continue;
            }
            patch.push(
              `*** Update File: ${path}`,
              ...(made.isMoved ? [`*** Move to: ${path}.moved`] : []),
              "@@",
              ...chunk,
            );
            after.set(made.isMoved ? `${path}.moved` : path, finish(edited, made.file));
          }
        }
        if (patch.length === 0) return;
        expect(applyTo(before, `*** Begin Patch\n${patch.join("\n")}\n*** End Patch\n`)).toEqual(after);
      }),
      RUNS_IN_SUITE,
    ));

  it("of several chunks have the same result as one chunk", () =>
    check(
      fc.property(file.filter(isPlain), edits, (original, edit) => {
        const { chunk, after } = toChunk(original.lines, edit, false);
        const chunks = splitChunk(chunk, original.lines);
        if (chunks.length === 0) return;
        const text = ["*** Begin Patch", "*** Update File: a", ...chunks, "*** End Patch"].join("\n");
        const parsed = parsePatch(text);
        if (!parsed.ok) throw new Error(parsed.problem.message);
        const operation = parsed.patch.operations[0]!;
        if (operation.kind !== "update") throw new Error("no update");
        const result = Buffer.from(applyChunks(Buffer.from(render(original)), operation.chunks)).toString();
        expect(result).toBe(finish(after, original));
      }),
      RUNS_IN_SUITE,
    ));
});

function applyTo(before: ReadonlyMap<string, string>, text: string): Map<string, string> {
  const parsed = parsePatch(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  const states = new Map(
    getPatchPaths(parsed.patch, "/ws").map((path) => {
      const content = before.get(path);
      return [
        path,
        content === undefined ? { kind: "missing" as const } : { kind: "file" as const, bytes: Buffer.from(content) },
      ];
    }),
  );
  const planned = planPatch(parsed.patch, "/ws", { states });
  if (!planned.ok) throw new Error(planned.problems.map(({ message }) => message).join("\n"));
  const result = new Map(before);
  for (const step of planned.plan.steps) {
    if (step.kind === "write") result.set(step.path, Buffer.from(step.after).toString());
    else result.delete(step.path);
  }
  return result;
}

/** Cuts a chunk over a whole file wherever the first place with the same lines is the right one. */
function splitChunk(chunk: readonly string[], file: readonly string[]): string[] {
  const parts: string[][] = [];
  let part: string[] = [];
  let [at, start] = [0, 0];
  const isRight = (sought: readonly string[]) => {
    for (let place = start; place < at - sought.length; place += 1) {
      if (sought.every((text, index) => normalize(file[place + index]!) === normalize(text))) return false;
    }
    return true;
  };
  for (const text of chunk) {
    part.push(text);
    if (text.startsWith("+")) continue;
    at += 1;
    const sought = part.filter((one) => !one.startsWith("+")).map((one) => one.slice(1));
    // An empty last line may be missing: that would be sought as well.
    if (sought.at(-1) === "" || !isRight(sought)) continue;
    parts.push(part);
    part = [];
    start = at;
  }
  // What is only added goes to the end; anything else is there, as all lines before it were taken.
  if (part.length > 0) parts.push(part);
  return parts.flatMap((all) => ["@@", ...all]);
}

/** At least as loose as any pass. */
const normalize = (text: string) => text.replaceAll(/\s/g, "").replaceAll(/[“”]/g, '"');

describe("the parser", () => {
  const word = fc.constantFrom(
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Update File: a\n",
    "*** Add File: b\n",
    "*** Delete File: c\n",
    "*** Move to: d\n",
    "*** End of File\n",
    "@@\n",
    "@@ x\n",
    "+x\n",
    "-x\n",
    " x\n",
    "\n",
    "```\n",
    "<<'EOF'\n",
    "EOF\n",
    "*** Environment ID: e\n",
    "{",
    '"input":"',
    "apply_patch ",
    "cd d && ",
  );
  const text = fc
    .array(fc.oneof({ weight: 4, arbitrary: word }, { weight: 1, arbitrary: fc.string({ unit: "binary" }) }))
    .map((all) => all.join(""));

  const chunkLine = fc.constantFrom("+x\n", "-x\n", " x\n", "\n", "@@\n", "@@ x\n", "*** End of File\n", "+\n", " \n");
  const operation = fc
    .tuple(
      fc.constantFrom(
        "*** Update File: a\n",
        "*** Update File: b\n*** Move to: c\n",
        "*** Add File: ./d\n",
        "*** Delete File: e\n",
      ),
      fc.array(chunkLine, { maxLength: 5 }),
    )
    .map(([header, body]) => header + (header.includes("Delete") ? "" : body.join("")));
  /** Often a whole patch, so that what is behind the parser is reached. */
  const patch = fc.array(operation, { maxLength: 4 }).map((all) => `*** Begin Patch\n${all.join("")}*** End Patch\n`);

  it("accepts any text or reports a problem", () =>
    check(
      fc.property(fc.oneof(text, patch), (any) => {
        const parsed = parsePatch(any);
        if (!parsed.ok) expect(parsed.problem.message.length).toBeGreaterThan(10);
        parsePatchScript(any);
        if (!parsed.ok) return;
        const states = new Map(
          getPatchPaths(parsed.patch, "/ws").map((path) => [
            path,
            { kind: "file" as const, bytes: Buffer.from("x\n") },
          ]),
        );
        planPatch(parsed.patch, "/ws", { states });
      }),
      RUNS_IN_SUITE,
    ));

  it("and the matcher accept any file or report a problem", () =>
    check(
      fc.property(fc.uint8Array({ maxLength: 60 }), text, (bytes, any) => {
        const parsed = parsePatch(`*** Begin Patch\n*** Update File: a\n@@\n${any}\n*** End Patch`);
        const operation = parsed.ok ? parsed.patch.operations[0] : undefined;
        if (operation?.kind !== "update") return;
        try {
          applyChunks(bytes, operation.chunks);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError);
        }
      }),
      RUNS_IN_SUITE,
    ));
});

describe("five megabytes", () => {
  const size = 5 * 1024 * 1024;
  it.each([
    ["one line", `*** Begin Patch\n*** Add File: a\n+${"x".repeat(size)}\n*** End Patch`],
    ["blanks", `*** Begin Patch\n*** Update File: a\n@@\n-${" ".repeat(size)}x\n*** End Patch`],
    ["short lines", `*** Begin Patch\n*** Add File: a\n${"+\n".repeat(size / 2)}*** End Patch`],
    ["fences", "```\n".repeat(size / 4)],
    ["braces", `{${'{"input":'.repeat(size / 9)}`],
    ["a script of blanks", `cd ${" ".repeat(size)}&& apply_patch <<EOF\n`],
    ["a script of assignments", `${"A=1 ".repeat(size / 4)}apply_patch <<EOF\n`],
  ])("of %s are parsed", (_, text) => {
    parsePatch(text);
    parsePatchScript(text);
  });
});
