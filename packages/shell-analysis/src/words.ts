import { decodeEscapes, decodeQuoted } from "./escapes.js";
import { MAX_BRACE_LENGTH, MAX_BRACE_WORDS } from "./limits.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { isEnvironment, isUnknown, toUnknown, UNKNOWN, withoutUnknown } from "./unknown.js";

/** One word of a command, as far as the script spells it out. */
export interface Word {
  /** The value; where a part of it is unknown, that part as it is written, followed by `UNKNOWN`. */
  readonly text: string;
  /** It may expand to nothing at all. */
  readonly isOptional: boolean;
}

/** Known values of expansions: of a variable by its name, of a command substitution by its node. */
export interface Expansions {
  getVariable(name: string): string | undefined;
  getOutput(substitution: SyntaxNode): string | undefined;
  /** Unknown parts are taken as empty, not as they are written. */
  readonly isBlank?: boolean;
  /** Every character of `IFS` separates words, letters included: `IFS=_; name=env_x; $name`. */
  readonly splitsAtLetters?: boolean;
}

/** Nothing is known. */
export const NO_EXPANSIONS: Expansions = { getVariable: () => undefined, getOutput: () => undefined };

/** The words a node of a command's arguments expands to. */
export function readWords(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): Word[] {
  const ifs = expansions.getVariable("IFS") ?? " ";
  const all = expansions.splitsAtLetters === true;
  const separators = all ? ifs.replace(/[\\\]^-]/g, "\\$&") : ifs === " " ? "" : ifs.replace(/[\w\\\]^-]/g, "");
  const words = splitFragments(readFragments(tree, node, expansions), separators);
  if (QUOTED.has(node.type)) return words;
  return words.flatMap(({ text, isOptional }) => expandBraces(text).map((each) => ({ text: each, isOptional })));
}

/** Words in which braces are literal, because they are quoted as a whole. */
const QUOTED: ReadonlySet<string> = new Set(["raw_string", "string", "ansi_c_string", "translated_string"]);

/** The same, also for an `IFS` of letters or digits. */
export function readSplitWords(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): Word[][] {
  const words = readWords(tree, node, expansions);
  if (!SEPARATING.test(expansions.getVariable("IFS") ?? "")) return [words];
  return [words, readWords(tree, node, { ...expansions, splitsAtLetters: true })];
}

/** Characters of `IFS` that often have another meaning. */
export const SEPARATING = /[\w\\\]^-]/;

export const getWordTexts = (words: readonly Word[]): string[] => words.map(({ text }) => text);

/** The value of a node that is not split into words, such as what is assigned. */
export function readValue(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): string {
  return readFragments(tree, node, expansions)
    .map(({ text }) => text)
    .join("");
}

interface Fragment {
  readonly text: string;
  /** Known and unquoted: white space in it separates words. */
  readonly isSplit?: boolean;
  /** Unknown and unquoted: it may be empty. */
  readonly isUnknown?: boolean;
}

function readFragments(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): Fragment[] {
  const text = getText(tree, node);
  switch (node.type) {
    case "raw_string":
      return [{ text: text.slice(1, -1) }];
    case "ansi_c_string":
      return [{ text: decodeQuoted(text.slice(2, -1)) }];
    case "string":
    case "translated_string": {
      if (ZSH_MODIFIER.test(text.slice(1))) return [{ text: toUnknown(readQuoted(tree, node, expansions)) }];
      const list = /^"\$(?:\{(\w+)\[@\]\}|@)"$/.exec(text);
      const all = list === null ? undefined : expansions.getVariable(list[1] ?? "@");
      return [all === undefined ? { text: readQuoted(tree, node, expansions) } : { text: all, isSplit: true }];
    }
    case "concatenation":
    case "command_name": {
      const fragments = node.children.flatMap((child) => readFragments(tree, child, expansions));
      return ZSH_MODIFIER.test(text) ? [...fragments, { text: UNKNOWN }] : fragments;
    }
    case "simple_expansion":
    case "expansion":
    case "command_substitution": {
      const value = readExpansion(tree, node, expansions);
      if (!isNothing(value)) return [{ text: value, isSplit: true }];
      if (expansions.isBlank === true) return [{ text: "", isSplit: true }];
      return [{ text: markExpansion(node, text, value), isUnknown: true }];
    }
    case "arithmetic_expansion":
      return [{ text: toUnknown(text) }];
    // Backticks with nothing in them, and the sign of `$""`.
    case "``":
    case "$":
      return [];
    case "process_substitution":
      return [{ text }];
    default:
      return [{ text: readTilde(text, expansions) ?? text.replace(/\\\n/g, "").replace(/\\([\s\S])/g, "$1") }];
  }
}

/** A tilde alone is the value of a variable. */
const readTilde = (text: string, { getVariable }: Expansions): string | undefined =>
  text === "~"
    ? getVariable("HOME")
    : text === "~+"
      ? getVariable("PWD")
      : text === "~-"
        ? getVariable("OLDPWD")
        : undefined;

/** In zsh, `$name:l` changes the value. */
const ZSH_MODIFIER = /^\$\w+(?:\[[^\]]*\])?:(?:[aAcehlpPqQrtuxX&]|g?s[^\w\s])/;

/** The text between double quotes, expansions replaced where they are known. */
function readQuoted(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): string {
  const end = node.end - 1;
  let at = tree.script.indexOf('"', node.start) + 1;
  let text = "";
  for (const child of node.children) {
    if (!EXPANSIONS.has(child.type)) continue;
    text += unescapeQuoted(tree.script.slice(at, child.start));
    const value = readExpansion(tree, child, expansions);
    if (!isNothing(value)) text += value;
    else if (expansions.isBlank !== true) text += markExpansion(child, getText(tree, child), value);
    at = child.end;
  }
  return text + unescapeQuoted(tree.script.slice(at, end));
}

/** Nothing of the value is known. */
const isNothing = (value: string | undefined): value is undefined =>
  value === undefined || (isUnknown(value) && !/\S/.test(withoutUnknown(value)));

/** Marks an unknown value, except the output of settled commands and environment variables, which the script does not control. */
function markExpansion(node: SyntaxNode, text: string, value: string | undefined): string {
  if (value !== undefined) return toUnknown(text);
  if (node.type === "command_substitution") return text;
  return isEnvironment(text.replace(/^\$\{?|\}$/g, "")) ? text : toUnknown(text);
}

const EXPANSIONS: ReadonlySet<string> = new Set(["simple_expansion", "expansion", "command_substitution"]);

function unescapeQuoted(text: string): string {
  return text.replace(/\\\n/g, "").replace(/\\([$`"\\])/g, "$1");
}

function readExpansion(tree: SyntaxTree, node: SyntaxNode, expansions: Expansions): string | undefined {
  if (node.type === "command_substitution")
    return expansions
      .getOutput(node)
      ?.replaceAll("\0", "")
      .replace(/(?<!\n)\n+(?=\ufffe?$)/, "");
  const hasSeparator = (expansions.getVariable("IFS") ?? " ") !== " ";
  if (node.type === "simple_expansion") {
    const name = getText(tree, node).slice(1);
    const value = expansions.getVariable(name);
    const isJoined = hasSeparator && (isArray(name, expansions) || /\s/.test(value ?? ""));
    return value !== undefined && isJoined ? toUnknown(value) : value;
  }
  const children = node.children.slice(1, -1);
  const isIndirect = children[0]?.type === "!";
  const [variable, operator, ...others] = isIndirect ? children.slice(1) : children;
  if (variable === undefined) return undefined;
  const subscript = getText(tree, variable);
  const whole = expansions.getVariable(subscript.replace(/\[.*$/s, ""));
  const isJoined = subscript.endsWith("[*]") || isArray(subscript, expansions);
  const isWhole = subscript.endsWith("[@]") || (isJoined ? !hasSeparator : !subscript.includes("["));
  const part = isWhole || whole === undefined ? whole : toUnknown(whole);
  const written = subscript.includes("[") ? (expansions.getVariable(subscript) ?? part) : part;
  const value = isIndirect && written !== undefined ? expansions.getVariable(written) : written;
  if (operator === undefined) return value;
  const last = others.at(-1) ?? operator;
  const other = () => expansions.getOutput(node) ?? readOther(tree, others, operator.end, last.end, expansions);
  switch (operator.type) {
    case ":+":
    case "+":
      return expansions.isBlank === true && written === undefined ? undefined : other();
    case ":-":
    case "-":
    case ":=":
    case "=":
      return value ?? other();
    default:
      return value === undefined ? undefined : transform(value, tree.script.slice(variable.end, node.end - 1));
  }
}

/** Marks that a variable is an array: in zsh, the name alone means all elements, which `IFS` joins between quotes. */
export const toArrayMark = (name: string): string => `${name}[]`;

const isArray = (name: string, expansions: Expansions): boolean =>
  name === "*" || expansions.getVariable(toArrayMark(name)) !== undefined;

function transform(value: string, operation: string): string | undefined {
  const transformed = transformValue(withoutUnknown(value), operation);
  return transformed === undefined || !isUnknown(value) ? transformed : toUnknown(transformed);
}

/** What `${name:1:2}`, `${name#a*}`, `${name%a}`, `${name/a/b}`, `${name,,}` and `${name@E}` make of a value; undefined if that cannot be determined. */
function transformValue(value: string, operation: string): string | undefined {
  const [, from, length] = SLICE.exec(operation) ?? [];
  if (from !== undefined) return sliceValue(value, Number(from), length === undefined ? undefined : Number(length));
  if (/^(?:,,?|@L)$/.test(operation)) return value.toLowerCase();
  if (/^(?:\^\^?|@U)$/.test(operation)) return value.toUpperCase();
  if (operation === "@E") return decodeEscapes(value);
  if (/^@[QKk]$/.test(operation)) return value;
  const stars = operation.split("*").length;
  if (operation.length > MAX_PATTERN || value.length ** stars > MAX_PATTERN_STEPS) return undefined;
  const [, prefixSign, prefix = ""] = /^(##?)([^$`"'\\]+)$/.exec(operation) ?? [];
  if (prefixSign !== undefined) return value.replace(toPattern(prefix, prefixSign === "##", "^", ""), "");
  const [, suffixSign, suffix = ""] = /^(%%?)([^$`"'\\]+)$/.exec(operation) ?? [];
  if (suffixSign !== undefined) return cutSuffix(value, toPattern(suffix, true, "^", "$"), suffixSign === "%%");
  const [, mode, old, other = ""] = /^\/([/#%]?)([^$`"'\\/]+)(?:\/([^$`"'\\]*))?$/.exec(operation) ?? [];
  if (old === undefined) return undefined;
  if (mode === "%") return cutSuffix(value, toPattern(old, true, "^", "$"), true, other);
  return value.replace(toPattern(old, true, mode === "#" ? "^" : "", "", mode === "/" ? "gs" : "s"), () => other);
}

/** Numbers as decimals: others, such as the octal `010`, are not evaluated. */
const SLICE = /^:\s*(?:\(\s*)?(-?(?:0|[1-9]\d*))\s*(?:\)\s*)?(?::\s*(?:\(\s*)?(-?(?:0|[1-9]\d*))\s*(?:\)\s*)?)?$/;

/** A negative index counts from the end, as `${name: -3:-1}` does. */
function sliceValue(value: string, from: number, length: number | undefined): string {
  const start = from < 0 ? Math.max(value.length + from, 0) : from;
  if (length === undefined) return value.slice(start);
  return value.slice(start, length < 0 ? value.length + length : start + length);
}

/** Tries each end of the value: the shortest match is removed or replaced, or the longest. */
function cutSuffix(value: string, pattern: RegExp, isLongest: boolean, other = ""): string {
  const places = Array.from({ length: Math.min(value.length, MAX_PATTERN_PLACES) + 1 }, (_, at) => value.length - at);
  const place = (isLongest ? places.reverse() : places).find((at) => pattern.test(value.slice(at)));
  return place === undefined ? value : value.slice(0, place) + other;
}

/** Longest pattern, and most steps of a comparison of a value with it: each star multiplies them by the length of the value. */
const MAX_PATTERN = 256;
const MAX_PATTERN_STEPS = 1_000_000;

/** Most ends of a value that are compared with a pattern. */
const MAX_PATTERN_PLACES = 256;

/** A shell pattern as a regular expression: `*`, `?` and `[…]`; the shortest match unless it is greedy. */
function toPattern(glob: string, isGreedy: boolean, before: string, after: string, flags = "s"): RegExp {
  const body = glob.replace(/\*+|\?|\[[!^]?[\w-]+\]|[\s\S]/g, (part) => {
    if (part.startsWith("*")) return isGreedy ? ".*" : ".*?";
    if (part === "?") return ".";
    if (part.length > 1) return part.replace(/^\[!/, "[^");
    return part.replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
  });
  try {
    return new RegExp(before + body + after, flags);
  } catch {
    return /(?!)/;
  }
}

/** What may replace a value, with the white space between its parts. */
function readOther(
  tree: SyntaxTree,
  nodes: readonly SyntaxNode[],
  from: number,
  to: number,
  expansions: Expansions,
): string {
  let text = "";
  let at = from;
  for (const node of nodes) {
    text += tree.script.slice(at, node.start) + readValue(tree, node, expansions);
    at = node.end;
  }
  return text + tree.script.slice(at, to);
}

const BLANKS = /([ \t\n]+)/;

/** `separators`: characters besides white space that separate the words of an expansion. */
function splitFragments(fragments: readonly Fragment[], separators: string): Word[] {
  const split = separators === "" ? BLANKS : new RegExp(`([ \\t\\n${separators}]+)`);
  const words: Word[] = [];
  let open: Word | undefined;
  const close = () => {
    if (open !== undefined) words.push(open);
    open = undefined;
  };
  const append = (text: string, isOptional: boolean) => {
    open =
      open === undefined ? { text, isOptional } : { text: open.text + text, isOptional: open.isOptional && isOptional };
  };
  for (const { text, isSplit = false, isUnknown: isOptional = false } of fragments) {
    if (!isSplit) {
      append(text, isOptional);
      continue;
    }
    const mark = isUnknown(text) ? toUnknown : (piece: string) => piece;
    text.split(split).forEach((piece, index) => {
      if (index % 2 === 1) close();
      else if (piece !== "") append(mark(piece), false);
    });
  }
  close();
  return words;
}

/** The alternatives of `{a,b}` and `{a..c}`; the word itself when it has none. Of too many the first ones, and `UNKNOWN`. */
export function expandBraces(text: string): string[] {
  if (!text.includes("{")) return [text];
  let words = [text];
  for (;;) {
    const next = words.flatMap(expandInnermost);
    if (next.length === words.length) return words;
    const most = Math.min(MAX_BRACE_WORDS, Math.ceil(MAX_BRACE_LENGTH / text.length));
    if (next.length > most) return [...next.slice(0, most), UNKNOWN];
    words = next;
  }
}

/** Braces that contain no other braces come first; the order of the words does not matter here. */
function expandInnermost(text: string): string[] {
  const braces = /\{([^{},]*,[^{}]*|\w\.\.\w|-?\d+\.\.-?\d+)\}/.exec(text);
  if (braces === null) return [text];
  const before = text.slice(0, braces.index);
  const after = text.slice(braces.index + braces[0].length);
  return listChoices(braces[1] ?? "").map((choice) => before + choice + after);
}

/** `a,b` or, of characters or numbers, `a..c`: of a long range only the ends. */
function listChoices(choices: string): string[] {
  if (choices.includes(",")) return choices.split(",");
  const [from = "", to = ""] = choices.split("..");
  const isNumber = /\d$/.test(from) && /\d$/.test(to);
  const [first, last] = [from, to].map((end) => (isNumber ? Number(end) : end.charCodeAt(0)));
  if (first === undefined || last === undefined) return [choices];
  const length = Math.min(Math.abs(last - first) + 1, MAX_BRACE_WORDS - 1);
  const codes = Array.from({ length }, (_, at) => first + Math.sign(last - first) * at);
  return [...codes, last].map((code) => (isNumber ? String(code) : String.fromCharCode(code)));
}
