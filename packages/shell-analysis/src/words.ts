import { decodeQuoted } from "./escapes.js";
import { MAX_BRACE_LENGTH, MAX_BRACE_WORDS } from "./limits.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { isUnknown, UNKNOWN, withoutUnknown } from "./unknown.js";

/** The value of a variable, possibly with unknown parts; undefined when the script does not set it. */
export type GetVariable = (name: string) => string | undefined;

/**
 * The words that a node of a command's arguments expands to. A part that is known only at run time stays as it is written, and is
 * followed by `UNKNOWN`, except a variable of the environment, which the script does not control.
 */
export function readWords(tree: SyntaxTree, node: SyntaxNode, getVariable: GetVariable): string[] {
  const words: string[] = [];
  let open: string | undefined;
  for (const { text, isSplit } of readFragments(tree, node, getVariable)) {
    if (!isSplit) {
      open = (open ?? "") + text;
      continue;
    }
    text.split(/[ \t\n]+/).forEach((piece, index) => {
      if (index > 0 && open !== undefined) {
        words.push(open);
        open = undefined;
      }
      if (piece !== "") open = (open ?? "") + piece;
    });
  }
  if (open !== undefined) words.push(open);
  return QUOTED.has(node.type) ? words : words.flatMap(expandBraces);
}

/** The value of a node that is not split into words, such as what is assigned. */
export const readValue = (tree: SyntaxTree, node: SyntaxNode, getVariable: GetVariable): string =>
  readFragments(tree, node, getVariable)
    .map(({ text }) => text)
    .join("");

/** Words in which braces are literal, because they are quoted as a whole. */
const QUOTED: ReadonlySet<string> = new Set(["raw_string", "string", "ansi_c_string", "translated_string"]);

interface Fragment {
  readonly text: string;
  /** White space in it separates words. */
  readonly isSplit: boolean;
}

function readFragments(tree: SyntaxTree, node: SyntaxNode, getVariable: GetVariable): Fragment[] {
  const text = getText(tree, node);
  const whole = (value: string): Fragment[] => [{ text: value, isSplit: false }];
  switch (node.type) {
    case "raw_string":
      return whole(text.slice(1, -1));
    case "ansi_c_string":
      return whole(decodeQuoted(text.slice(2, -1)));
    case "string":
    case "translated_string":
      return whole(readQuoted(tree, node, getVariable));
    case "concatenation":
    case "command_name":
      return node.children.flatMap((child) => readFragments(tree, child, getVariable));
    case "simple_expansion":
    case "expansion": {
      const value = readExpansion(tree, node, getVariable);
      return [{ text: value, isSplit: value !== text && !isUnknown(value) }];
    }
    case "command_substitution":
      return whole(markOutput(text));
    case "arithmetic_expansion":
      return whole(text + UNKNOWN);
    // Backticks with nothing in them, and the sign of `$""`.
    case "``":
    case "$":
      return [];
    case "process_substitution":
      return whole(text);
    default:
      return whole(text.replace(/\\\n/g, "").replace(/\\([\s\S])/g, "$1"));
  }
}

/** The text between double quotes, expansions replaced where they are known. */
function readQuoted(tree: SyntaxTree, node: SyntaxNode, getVariable: GetVariable): string {
  let at = tree.script.indexOf('"', node.start) + 1;
  let text = "";
  for (const child of node.children) {
    const isExpansion = child.type === "simple_expansion" || child.type === "expansion";
    if (!isExpansion && child.type !== "command_substitution" && child.type !== "arithmetic_expansion") continue;
    text += unescapeQuoted(tree.script.slice(at, child.start));
    text += isExpansion ? readExpansion(tree, child, getVariable) : markOutput(getText(tree, child));
    at = child.end;
  }
  return text + unescapeQuoted(tree.script.slice(at, node.end - 1));
}

/** Output that the script does not control stays unmarked: a fact about the host, or what a tool prints for `eval`. */
const markOutput = (text: string): string => (HOST_FACTS.test(text) ? text : text + UNKNOWN);

const HOST_FACTS =
  /^\$\((?:pwd|nproc|whoami|hostname|uname(?: -\w+)?|date(?: -u)?|git rev-parse --\S+(?: HEAD)?|brew (?:shellenv|--prefix[ \w.-]*)|ssh-agent(?: -s)?|\w+env init[ -]*\w*|(?:direnv hook|mise activate|zoxide init|starship init) \w+|(?:opam|fnm) env[ \w-]*|(?:npm|pnpm|yarn) (?:root|bin|prefix)(?: -g)?)\)$/;

const unescapeQuoted = (text: string): string => text.replace(/\\\n/g, "").replace(/\\([$`"\\])/g, "$1");

/** A value, or the text with `UNKNOWN`. Of `${name:-other}` the other text counts where the name has no value. */
function readExpansion(tree: SyntaxTree, node: SyntaxNode, getVariable: GetVariable): string {
  const text = getText(tree, node);
  const [, plain, braced, operator, other] = EXPANSION.exec(text) ?? [];
  const name = plain ?? braced;
  if (name === undefined) return text + UNKNOWN;
  const value = getVariable(name);
  if (operator !== undefined) {
    const last = node.children.slice(node.children.findIndex(({ type }) => type === operator) + 1, -1);
    const words = last.map((child) => readValue(tree, child, getVariable)).join("");
    return operator.endsWith("+") ? words + UNKNOWN : (value ?? (other === "" ? "" : words));
  }
  if (value !== undefined) return value;
  return isEnvironment(name) || isParameter(name) ? text : text + UNKNOWN;
}

const EXPANSION = /^\$(?:(\w+|[@*#?!$-])|\{(\w+|[@*])(?:\[[@*]\])?(?:(:?[-=+])([\s\S]*))?\})$/;

/** `$1` is known where the function or the script is called: there, every argument is a guess. */
const isParameter = (name: string): boolean => /^(?:\d+|[@*])$/.test(name);

/** A variable of the environment: the script only reads it. */
const isEnvironment = (name: string): boolean =>
  /^[?#!$-]$/.test(name) || (/^[A-Z][A-Z0-9_]*$/.test(name) && !OWN.test(name));

/** Variables that a shell sets itself. */
const OWN = /^(?:REPLY|OPTARG|OPTIND|DIRSTACK|FUNCNAME|MAPFILE|COPROC|PIPESTATUS|HISTCMD|MATCH|BASH_\w+|PWD|OLDPWD)$/;

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
  const [, choices = ""] = braces;
  // Of a range the ends, and one that is not followed.
  const all = choices.includes(",") ? choices.split(",") : [...choices.split(".."), choices + UNKNOWN];
  return all.map((choice) => before + choice + after);
}

/** Why a word is no program that is known. */
export function findProgramProblem(word: string): string | undefined {
  const shown = `\`${withoutUnknown(word)}\``;
  const name = word.slice(word.lastIndexOf("/") + 1);
  if (isUnknown(name) || /\$\{?[\d@*]/.test(name.replace(/^\$(?:[\d@*]|\{[\d@*]\})$/, "")))
    return `the program is known only at run time: ${shown}`;
  if (/^~[-+]?\d*$/.test(name)) return `which program ${shown} is depends on a variable`;
  if (/[*?]|^[^[]*\[.*\]/s.test(name) || /.[{}]|[{}]./s.test(name.replace(/\$\{\w+\}/g, "")))
    return `which program ${shown} matches is known only at run time`;
  return undefined;
}
