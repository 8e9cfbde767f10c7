import {
  type FileState,
  getPatchPaths,
  MAX_FILE_BYTES,
  parsePatch,
  planPatch,
  renderProblems,
} from "@codex/apply-patch";
import { describe, expect, it } from "vitest";
import { MemoryTree, type Tree } from "../tree.js";

const wrap = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const change = (path: string, from: string, to: string) => [`*** Update File: ${path}`, "@@", `-${from}`, `+${to}`];
const move = (path: string, target: string, from: string, to: string) => [
  `*** Update File: ${path}`,
  `*** Move to: ${target}`,
  "@@",
  `-${from}`,
  `+${to}`,
];

function plan(
  before: Tree,
  lines: string[],
  states: Record<string, FileState> = {},
  realPaths?: Record<string, string>,
) {
  const tree = new MemoryTree(before);
  const parsed = parsePatch(wrap(...lines));
  if (!parsed.ok) throw new Error(parsed.problem.message);
  const known = getPatchPaths(parsed.patch, "/ws").map((path) => [path, states[path] ?? tree.state(path)] as const);
  return planPatch(parsed.patch, "/ws", {
    states: new Map(known),
    ...(realPaths && { realPaths: new Map(Object.entries(realPaths)) }),
  });
}

function answer(...given: Parameters<typeof plan>): string {
  const planned = plan(...given);
  return planned.ok ? "planned" : renderProblems(planned);
}

const steps = (...given: Parameters<typeof plan>) => {
  const planned = plan(...given);
  if (!planned.ok) return renderProblems(planned);
  return planned.plan.steps.map((step) =>
    step.kind === "remove"
      ? `remove ${step.path}`
      : `write ${step.path} ${JSON.stringify(Buffer.from(step.after).toString())}`,
  );
};

describe("what is refused, since something would be lost", () => {
  const two: Tree = { a: "x\n", b: "z\n" };
  it.each<[name: string, before: Tree, lines: string[], pattern: RegExp]>([
    ["a move onto another file", two, move("a", "b", "x", "y"), /\/ws\/b exists already/],
    ["a swap", two, [...move("a", "b", "x", "y"), ...move("b", "a", "z", "w")], /one of them would be lost/],
    ["a move and an addition", { a: "x\n" }, [...move("a", "b", "x", "y"), "*** Add File: b", "+1"], /\/ws\/b.*lost/],
    ["an addition and a move", { a: "x\n" }, ["*** Add File: b", "+1", ...move("a", "b", "x", "y")], /\/ws\/b.*lost/],
    ["two moves to one place", two, [...move("a", "c", "x", "y"), ...move("b", "c", "z", "w")], /\/ws\/c.*lost/],
    ["a move, and then its target deleted", two, [...move("a", "b", "x", "y"), "*** Delete File: b"], /\/ws\/b.*lost/],
    [
      "two updates",
      { a: "x\n" },
      [...change("a", "x", "y"), ...change("a", "y", "z")],
      /more than one operation.*\/ws\/a/,
    ],
    ["the same by ./", { a: "x\n" }, [...change("./a", "x", "y"), "*** Delete File: a"], /more than one operation/],
    [
      "the same by ..",
      { a: "x\n" },
      [...change("b/../a", "x", "y"), "*** Delete File: /ws/a"],
      /more than one operation/,
    ],
    [
      "a file as a directory",
      {},
      ["*** Add File: a", "+1", "*** Add File: a/b", "+1"],
      /'\/ws\/a\/b' needs a directory/,
    ],
    ["a move below itself", { a: "x\n" }, move("a", "a/b", "x", "y"), /needs a directory/],
    ["a move onto a directory", { a: "x\n", "d/x": "" }, move("a", "d/", "x", "y"), /\/ws\/d is a directory/],
    [
      "a link as target, though it is deleted before",
      { a: "x\n", b: "", l: { link: "b" } },
      ["*** Delete File: l", ...move("a", "l", "x", "y")],
      /\/ws\/l.*symbolic link/,
    ],
  ])("%s", (_, before, lines, pattern) => {
    expect(answer(before, lines)).toMatch(pattern);
    expect(answer(before, lines)).toMatch(/Nothing was changed\.$/);
  });

  it("one file under two names", () => {
    const real = { "/ws/d/a": "/ws/d/a", "/ws/e/a": "/ws/d/a" };
    const lines = [...change("d/a", "x", "y"), ...change("e/a", "x", "z")];
    expect(answer({ "d/a": "x\n", "e/a": "x\n" }, lines, {}, real)).toMatch(/which are one file/);
    const moved = move("d/a", "e/a", "x", "y");
    expect(answer({ "d/a": "x\n", "e/a": "x\n" }, moved, {}, real)).toMatch(/onto itself/);
  });
});

describe("what is allowed", () => {
  it.each<[name: string, before: Tree, lines: string[], expected: string[]]>([
    ["a move onto the same name changes the file", { a: "x\n" }, move("a", "./a", "x", "y"), ['write /ws/a "y\\n"']],
    ["a rename", { a: "x\n" }, ["*** Update File: a", "*** Move to: b"], ['write /ws/b "x\\n"', "remove /ws/a"]],
    [
      "a move where a file was deleted is one write",
      { a: "x\n", c: "z\n" },
      ["*** Delete File: c", ...move("a", "c", "x", "y")],
      ['write /ws/c "y\\n"', "remove /ws/a"],
    ],
    [
      "a chain of moves, last one first",
      { a: "x\n", b: "z\n" },
      [...move("b", "c", "z", "w"), ...move("a", "b", "x", "y")],
      ['write /ws/c "w\\n"', 'write /ws/b "y\\n"', "remove /ws/a"],
    ],
    [
      "a directory in the place of a file",
      { a: "x\n" },
      ["*** Delete File: a", "*** Add File: a/b", "+1"],
      ["remove /ws/a", 'write /ws/a/b "1\\n"'],
    ],
    [
      "removals come last",
      { a: "x\n", b: "z\n" },
      ["*** Delete File: a", ...change("b", "z", "w")],
      ['write /ws/b "w\\n"', "remove /ws/a"],
    ],
  ])("%s", (_, before, lines, expected) => {
    expect(steps(before, lines)).toEqual(expected);
  });

  it("moves and deletes files of any bytes", () => {
    const bytes = { base64: "/w==" };
    expect(plan({ a: bytes }, ["*** Update File: a", "*** Move to: b"])).toMatchObject({ ok: true });
    expect(plan({ a: bytes }, ["*** Delete File: a"])).toMatchObject({ ok: true });
  });

  it("shows paths as the patch has them, and absolute ones to programs", () => {
    expect(plan({ "d/a": "x\n" }, move("d/../d/a", "/ws/b", "x", "y"))).toMatchObject({
      ok: true,
      plan: {
        changes: [{ kind: "update", path: "/ws/d/a", shownPath: "d/../d/a", moveTo: "/ws/b", shownMoveTo: "/ws/b" }],
      },
    });
  });
});

describe("what does not fit", () => {
  it("tells every file of it", () => {
    const text = answer({ a: "x\n" }, [...change("a", "q", "y"), "*** Delete File: b", ...change("c", "x", "y")]);
    expect(text).toMatch(/\/ws\/a: .*\n.*\/ws\/b to delete does not exist.*\n\/ws\/c to update does not exist/s);
  });

  it("tells what an earlier try has done already", () => {
    const lines = [
      ...change("a", "x", "y"),
      "*** Delete File: b",
      "*** Add File: c",
      "+1",
      ...change("d", "p", "q"),
      ...move("e", "f", "1", "2"),
    ];
    const text = answer({ a: "y\n", c: "1\n", d: "p\n", f: "2\n" }, lines);
    expect(text).toContain("Already as this patch leaves them: 'a', 'b', 'c', 'e'.");
  });

  it.each<[name: string, state: FileState]>([
    ["leads nowhere", { kind: "missing", isLink: true }],
    ["leads to a directory", { kind: "directory", isLink: true }],
    ["leads to what cannot be read", { kind: "unreadable", reason: "a socket", isLink: true }],
  ])("deletes a link that %s, and counts none as deleted", (_, state) => {
    const link = { "/ws/l": state };
    expect(answer({}, ["*** Delete File: l"], link)).toBe("planned");
    expect(answer({}, ["*** Delete File: l", ...change("a", "x", "y")], link)).not.toContain("Already");
    expect(answer({ a: "x\n" }, ["*** Delete File: l", ...move("a", "l", "x", "y")], link)).toMatch(
      /l is a symbolic link: delete it in one patch/,
    );
  });

  it("says that a link leads nowhere", () => {
    const text = answer({}, change("l", "x", "y"), { "/ws/l": { kind: "missing", isLink: true } });
    expect(text).toContain("/ws/l to update is a symbolic link that leads nowhere");
  });

  it.each<[name: string, state: FileState, pattern: RegExp]>([
    ["a directory", { kind: "directory" }, /is not a file but a directory/],
    ["what cannot be read", { kind: "unreadable", reason: "Permission denied" }, /cannot be read: Permission denied/],
    [
      "a file that is too large",
      { kind: "file", bytes: new Uint8Array(MAX_FILE_BYTES + 1) },
      new RegExp(`has ${MAX_FILE_BYTES + 1} bytes.*at most ${MAX_FILE_BYTES}`),
    ],
  ])("names %s", (_, state, pattern) => {
    expect(answer({}, change("a", "x", "y"), { "/ws/a": state })).toMatch(pattern);
  });

  it("names a file that would become too large", () => {
    const lines = ["*** Add File: a", `+${"x".repeat(MAX_FILE_BYTES)}`];
    expect(answer({}, lines)).toContain(`at most ${MAX_FILE_BYTES} bytes`);
  });
});
