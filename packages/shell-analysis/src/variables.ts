import { MAX_VALUE_LENGTH, MAX_VARIABLE_VALUES } from "./limits.js";
import { getLiteralOutput } from "./literal-output.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { UNKNOWN } from "./unknown.js";
import { type Expansions, getWordTexts, readSplitWords, readValue, readWords, toArrayMark } from "./words.js";

/** Values that variables may have, by name. */
export type Variables = ReadonlyMap<string, readonly string[]>;

export const INITIAL_VARIABLES: Variables = new Map([["IFS", [" "]]]);

/** `$0`, `$1`, … and all but the first as `$@`. */
export function addParameters(variables: Variables, args: readonly string[]): Variables {
  if (args.length === 0) return variables;
  const all = args.slice(1).join(" ");
  return new Map([
    ...variables,
    ...args.map((arg, index) => [String(index), [arg]] as const),
    ["@", [all]],
    ["*", [all]],
  ]);
}

/**
 * Every value that a script spells out for a variable, in any place; the outer ones for those it does not set. `read`: values
 * that its commands were found to read. Returns `outer` itself when nothing is set.
 */
export function collectVariables(
  tree: SyntaxTree,
  outer: Variables,
  read: Variables,
  expansions: Expansions,
): Variables {
  const variables = new Map<string, readonly string[]>(outer);
  const changesCase = CASE_ATTRIBUTE.test(tree.script);
  const cut = CUT_ATTRIBUTE.test(tree.script) ? [UNKNOWN] : [];
  const add = (name: string, given: readonly string[]) => {
    const known = variables.get(name) ?? [];
    const values = given.map((value) => (value.length > MAX_VALUE_LENGTH ? UNKNOWN : value));
    const cased = changesCase ? values.flatMap((value) => [value.toLowerCase(), value.toUpperCase()]) : [];
    const all = [...new Set([...known, ...values, ...cased, ...cut])];
    const isOver = all.length > MAX_VARIABLE_VALUES;
    variables.set(name, isOver ? [...all.slice(0, MAX_VARIABLE_VALUES - 1), UNKNOWN] : all);
  };
  let known: ReadonlySet<string> | undefined;
  const texts = () => {
    known ??= new Set(Array.from(tree.script.matchAll(TEXT_ASSIGNMENT), ([, name = ""]) => name));
    return known;
  };
  const references = new Map<string, string>();
  const addReferenced = (name: string, values: readonly string[]) => {
    add(name, values);
    const other = references.get(name);
    if (other !== undefined) add(other, values);
  };
  const visit = (node: SyntaxNode) => {
    if (node.type === "declaration_command") addReferences(tree, node, expansions, add, references);
    if (node.type === "variable_assignment") {
      const [, whole = ""] = /^(\w+)\[/.exec(getText(tree, node)) ?? [];
      // In zsh, a subscript of a text is a part of it: `z=qap; z[1]=z`.
      if (whole !== "" && texts().has(whole)) add(whole, [UNKNOWN]);
      const text = getText(tree, node.children[0] ?? node);
      if (references.has(text) || !isFull(variables.get(text)))
        addAssignment(tree, node, variables, expansions, addReferenced);
    }
    // The separators that were set last: readings of words differ by them.
    const getVariable = (name: string) => (name === "IFS" ? variables.get(name)?.at(-1) : expansions.getVariable(name));
    if (node.type === "command") addBuiltinValues(tree, node, { ...expansions, getVariable }, add);
    if (node.type === "for_statement") addLoopValues(tree, node, { ...expansions, getVariable }, add);
    if (node.type === "expansion") addDefault(tree, node, expansions, add);
    for (const child of node.children) visit(child);
  };
  visit(tree.root);
  for (const [name, values] of read) add(name, values);
  return variables.size === outer.size && [...variables].every(([name, values]) => outer.get(name) === values)
    ? outer
    : variables;
}

/** Whether further values of a variable make no difference. Elements of an array have names of their own. */
const isFull = (values: readonly string[] = []): boolean =>
  values.length === MAX_VARIABLE_VALUES && values.at(-1) === UNKNOWN;

/** An assignment of a text, not of an array or a part. */
const TEXT_ASSIGNMENT = /(?<=^|[\s;&|({])([A-Za-z_]\w*)=[^(\s]/g;

/** `typeset -L 3`: every value assigned later is cut or filled. */
const CUT_ATTRIBUTE = /(?<!\w|\s-)(?:declare|typeset|local|export|readonly)\s+(?:-\w+\s+)*-\w*[LRZ]/;

/** `declare -l`: every value assigned later changes its case. */
const CASE_ATTRIBUTE = /(?<!\w|\s-)(?:declare|typeset|local|export|readonly)\s+(?:-\w+\s+)*-\w*[lu]/;

export function isSameVariables(one: Variables, other: Variables): boolean {
  if (one === other) return true;
  const isSame = (values: readonly string[], others: readonly string[] | undefined) =>
    values.length === others?.length && values.every((value, index) => value === others[index]);
  return one.size === other.size && [...one].every(([name, values]) => isSame(values, other.get(name)));
}

type AddValues = (name: string, values: readonly string[]) => void;

function addAssignment(
  tree: SyntaxTree,
  node: SyntaxNode,
  known: Variables,
  expansions: Expansions,
  add: AddValues,
): void {
  const [name, operator, value] = node.children;
  if (name !== undefined && value === undefined && getText(tree, name) === "IFS") add("IFS", [""]);
  if (name === undefined) return;
  const subscript = getText(tree, name);
  const text = subscript.replace(/\[.*$/s, "");
  if (value === undefined) return;
  // Its own name means the first value in the script, and the one before: with any other, `x="$x:y"` would grow each time it is read.
  const own = known.get(text) ?? [];
  const read = (before: string | undefined, times: number): string[] => {
    const getVariable = (other: string) => (other === text ? before : expansions.getVariable(other));
    const settled = { ...expansions, getVariable };
    if (value.type === "array") return readArray(tree, value, settled);
    const result = readValue(tree, value, settled);
    // A loop may shorten a value several times: `c=${c#x}`.
    const isShorter = before !== undefined && result !== "" && result.length < before.length && before.includes(result);
    return [result, ...(isShorter && times > 1 ? read(result, times - 1) : [])];
  };
  const values = [...new Set([own[0], own.at(-1)])].flatMap((before) => read(before, MAX_VARIABLE_VALUES));
  if (subscript !== text) add(subscript, values);
  if (value.type === "array")
    for (const [index, element] of values.slice(1).entries()) add(`${text}[${index}]`, [element]);
  if (value.type === "array" || subscript !== text) add(toArrayMark(text), [""]);
  const before = operator?.type === "+=" ? (known.get(text) ?? []) : [];
  const joint = value.type === "array" ? " " : "";
  add(text, [...before.flatMap((one) => values.map((other) => one + joint + other)), ...values]);
}

/** `declare -n name=other`: the values of the other variable; later assignments to the name assign to the other. */
function addReferences(
  tree: SyntaxTree,
  node: SyntaxNode,
  expansions: Expansions,
  add: AddValues,
  references: Map<string, string>,
): void {
  if (!node.children.some((child) => child.type === "word" && /^-\w*n/.test(getText(tree, child)))) return;
  for (const { type, children } of node.children) {
    const [name, , value] = children;
    if (type !== "variable_assignment" || name === undefined || value === undefined) continue;
    const other = readValue(tree, value, expansions);
    references.set(getText(tree, name), other);
    const held = expansions.getVariable(other);
    if (held !== undefined) add(getText(tree, name), [held]);
  }
}

/** `${name:=value}` assigns the value to the name. */
function addDefault(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions, add: AddValues): void {
  const [, name, operator, ...values] = node.children;
  if (name?.type !== "variable_name" || !/^:?=$/.test(operator?.type ?? "")) return;
  add(getText(tree, name), [
    values
      .slice(0, -1)
      .map((value) => readValue(tree, value, expansions))
      .join(""),
  ]);
}

/** All elements, as `${name[@]}` has them, and each alone. */
function readArray(tree: SyntaxTree, array: SyntaxNode, expansions: Expansions): string[] {
  const elements = getWordTexts(array.children.slice(1, -1).flatMap((child) => readWords(tree, child, expansions))).map(
    (text) => text.replace(/^\[[^\]]*\]=/, ""),
  );
  return [elements.join(" "), ...elements];
}

/** `set -- words`, with `shift` fewer of them, and `printf -v name format words`. */
function addBuiltinValues(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions, add: AddValues): void {
  const readings = node.children.map((child) => readSplitWords(tree, child, expansions));
  const isSplit = readings.some((each) => each.length > 1);
  for (const at of isSplit ? [0, 1] : [0]) {
    const words = readings.flatMap((each) => each[at] ?? each[0] ?? []);
    addBuiltinWords(tree, getWordTexts(words), add);
  }
}

function addBuiltinWords(tree: SyntaxTree, [program, ...args]: readonly string[], add: AddValues): void {
  if (program === "printf" && args[0] === "-v" && args[1] !== undefined) {
    add(args[1], [getLiteralOutput(["printf", ...args.slice(2)], undefined, NO_FILES) ?? ""]);
  }
  // In another shell `set` sets a variable.
  const named = program === "set" ? args.findIndex((arg) => !arg.startsWith("-")) : -1;
  if (named !== -1) add(args[named] ?? "", [args.slice(named + 1).join(" "), ...args.slice(named + 1)]);
  if (named !== -1 && args.some((arg) => /^[-+]\w*A/.test(arg))) add(toArrayMark(args[named] ?? ""), [""]);
  if (program !== "set" || /^-./.test(args[0] ?? "") !== (args[0] === "--")) return;
  const words = args[0] === "--" ? args.slice(1) : args;
  const hasShift = /\bshift\b/.test(tree.script);
  const ends = hasShift ? words.slice(0, MAX_VARIABLE_VALUES).map((_, at) => words.slice(at)) : [words];
  for (const name of ["@", "*"])
    add(
      name,
      ends.map((end) => end.join(" ")),
    );
  for (const [index, word] of words.entries())
    add(String(index + 1), hasShift ? words.slice(index, index + MAX_VARIABLE_VALUES + 1) : [word]);
}

const NO_FILES: ReadonlyMap<string, string> = new Map();

function addLoopValues(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions, add: AddValues): void {
  const name = node.children.find(({ type }) => type === "variable_name");
  const from = node.children.findIndex(({ type }) => type === "in");
  const to = node.children.findIndex(({ type }) => type === "do_group");
  if (name === undefined || from === -1) return;
  const words = node.children.slice(from + 1, to).filter(({ type }) => type !== ";");
  add(getText(tree, name), getWordTexts(words.flatMap((word) => readSplitWords(tree, word, expansions).flat())));
}

/** The values a `read`, or the like, gives its variables of what it reads. Options that cut it leave them unknown. */
export function readInto(argv: readonly string[], input: string): [string, string[]][] {
  const [program = "", ...args] = argv;
  if (!/^(?:read|mapfile|readarray)$/.test(program)) return [];
  // They leave out null characters, unless these end a line.
  const all = new Set([...input.split("\n"), ...input.replaceAll("\0", "").split("\n"), ...input.split("\0")]);
  const lines = [...all].filter((line) => line !== "" && !line.includes("\0")).slice(0, MAX_VARIABLE_VALUES);
  const names = args.filter((arg) => /^[A-Za-z_]\w*$/.test(arg));
  if (program === "mapfile" || program === "readarray")
    return [[names.at(-1) ?? "MAPFILE", [lines.join(" "), ...lines]]];
  const isCut = args.some((arg) => /^-\w*[nNdku]/.test(arg));
  const words = lines.flatMap((line) => line.split(/[\s,:;]+/)).slice(0, MAX_VARIABLE_VALUES);
  const parts = lines.map((line) => line.split(/\s+/));
  const values = names.length > 1 || /[,:;]/.test(input) ? [...words, ...lines] : lines;
  return (names.length === 0 ? ["REPLY"] : names).map((name, index) => {
    const isLast = index === Math.max(names.length, 1) - 1;
    const rest = isLast ? parts.map((each) => each.slice(index).join(" ")) : [];
    return [
      name,
      [...(isCut ? [UNKNOWN] : []), ...new Set([...rest, ...parts.flatMap((each) => each[index] ?? []), ...values])],
    ];
  });
}
