import { posix } from "node:path";
import type { ShellParser } from "./parser.js";
import { parseChecked } from "./parser-check.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";

/**
 * The commands of `[shell, -c | -lc, script]` for the shells that split words exactly like this; null for every other argv.
 * The caller makes sure that the first word really is that shell.
 */
export function splitCommand(parser: ShellParser, argv: readonly string[]): string[][] | null {
  const [shell, flag, script] = argv;
  if (argv.length !== 3 || shell === undefined || script === undefined) return null;
  if (!SPLIT_SHELLS.has(posix.basename(shell)) || (flag !== "-c" && flag !== "-lc")) return null;
  return splitScript(parser, script);
}

const SPLIT_SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "zsh"]);

/**
 * The plain commands of a script, exactly as a shell would run them, or null. Permissive decisions rely on this: null
 * is always safe, and everything that expands, redirects, assigns, groups or branches gives null.
 */
export function splitScript(parser: ShellParser, script: string): string[][] | null {
  if (!/\S/.test(script)) return null;
  const tree = parseChecked(parser, script);
  if (tree === undefined || tree.hasError || !hasOnlyBlanksBetween(tree)) return null;
  return readStatements(tree, tree.root);
}

/** Text that the tree does not cover must separate words; the grammar accepts more there than a shell. */
function hasOnlyBlanksBetween(tree: SyntaxTree): boolean {
  let end = 0;
  for (const leaf of listLeaves(tree.root)) {
    if (!isBlank(tree.script.slice(end, leaf.start))) return false;
    end = leaf.end;
  }
  return isBlank(tree.script.slice(end));
}

/** Line continuations count only next to a blank: without one they join the words around them. */
function isBlank(gap: string): boolean {
  const blanks = gap.replaceAll("\\\n", "");
  return /^[ \t\n]*$/.test(blanks) && (blanks !== "" || gap === "");
}

/** Strings count as one leaf: it includes the text between their quotes. */
function listLeaves(node: SyntaxNode): SyntaxNode[] {
  if (node.children.length === 0 || node.type === "string") return [node];
  return node.children.flatMap(listLeaves);
}

/** Between two words of one command; the grammar also accepts further characters and, after a newline, line continuations. */
function isWordGap(gap: string): boolean {
  return /^[ \t]+$/.test(gap.replaceAll("\\\n", ""));
}

const SEPARATORS: Readonly<Record<string, readonly string[]>> = {
  program: [";"],
  list: ["&&", "||"],
  pipeline: ["|"],
};

function readStatements(tree: SyntaxTree, node: SyntaxNode): string[][] | null {
  if (node.type === "command") return readCommand(tree, node);
  if (node.type === "redirected_statement") return readRedirected(tree, node);
  const separators = SEPARATORS[node.type];
  if (separators === undefined) return null;
  const commands: string[][] = [];
  for (const child of node.children) {
    if (separators.includes(child.type)) continue;
    const found = readStatements(tree, child);
    if (found === null) return null;
    commands.push(...found);
  }
  return commands.length === 0 ? null : commands;
}

function readRedirected(tree: SyntaxTree, node: SyntaxNode): string[][] | null {
  const [body, ...redirects] = node.children;
  if (body === undefined || !redirects.every((redirect) => isHarmlessRedirect(tree, redirect))) return null;
  return readStatements(tree, body);
}

/** To or from /dev/null, or one of the two outputs to the other. A digit before it belongs to it, whatever the tree shows. */
function isHarmlessRedirect(tree: SyntaxTree, node: SyntaxNode): boolean {
  if (/[0-9]/.test(tree.script.charAt(node.start - 1))) return false;
  return node.type === "file_redirect" && HARMLESS_REDIRECT.test(getText(tree, node));
}

const HARMLESS_REDIRECT = /^(?:[012]?>>?[ \t]*\/dev\/null|&>>?[ \t]*\/dev\/null|0?<[ \t]*\/dev\/null|[12]?>&[12])$/;

function readCommand(tree: SyntaxTree, node: SyntaxNode): string[][] | null {
  const words: string[] = [];
  for (const [index, child] of node.children.entries()) {
    const before = node.children[index - 1];
    if (before !== undefined && !isWordGap(tree.script.slice(before.end, child.start))) return null;
    if (isHarmlessRedirect(tree, child)) continue;
    const isName = child.type === "command_name";
    const word = isName ? readName(tree, child) : words.length === 0 ? null : readWord(tree, child);
    if (word === null) return null;
    words.push(word);
  }
  return words.length === 0 ? null : [words];
}

/** A single bare word that is not a keyword. */
function readName(tree: SyntaxTree, node: SyntaxNode): string | null {
  const [word] = node.children;
  if (word === undefined || node.children.length !== 1 || word.type !== "word") return null;
  const name = readBareWord(getText(tree, word));
  return name === null || KEYWORDS.has(name) || name.includes("=") ? null : name;
}

/** Words that begin a statement of several commands. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "in"],
  ...["function", "foreach", "end"],
]);

function readWord(tree: SyntaxTree, node: SyntaxNode): string | null {
  switch (node.type) {
    case "word":
    case "number":
      return readBareWord(getText(tree, node));
    case "raw_string":
      return getText(tree, node).slice(1, -1);
    case "string":
      return readString(tree, node);
    case "concatenation": {
      const parts = node.children.map((child) => (child.type === "concatenation" ? null : readWord(tree, child)));
      return parts.includes(null) ? null : parts.join("");
    }
    default:
      return null;
  }
}

/** A word no shell changes: nothing that quotes, expands, matches files or, in zsh, looks up a program. */
function readBareWord(text: string): string | null {
  return /[\\*?[\]{}~^#$`'"<>()|&;]/.test(text) || text.startsWith("=") ? null : text;
}

/** Double quotes without expansion; a backslash that escapes nothing is literal. */
function readString(tree: SyntaxTree, node: SyntaxNode): string | null {
  if (!node.children.every(({ type }) => type === '"' || type === "string_content")) return null;
  const text = getText(tree, node).slice(1, -1);
  return /\\[$`"\\\n]/.test(text) ? null : text;
}
