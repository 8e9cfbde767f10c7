import type { ShellParser } from "./parser.js";
import type { SyntaxNode, SyntaxTree } from "./syntax-tree.js";

/** The parser returned what cannot be a parse of the script: nothing it returns can be used. */
class ParserFault extends Error {
  constructor(problem: string) {
    super(`the script parser does not work: ${problem}`);
    this.name = "ParserFault";
  }
}

/**
 * Parses a script and checks that the tree covers all of its text; undefined when it is beyond a bound of the
 * parser. Throws a `ParserFault`: a parser that lost its memory reads every script as empty.
 */
export function parseChecked(parser: ShellParser, script: string): SyntaxTree | undefined {
  const tree = parser.parse(script);
  if (tree === undefined) return undefined;
  if (tree.script !== script) throw new ParserFault("it read another text");
  const { root } = tree;
  if (root.type !== "program" && !tree.hasError) throw new ParserFault(`a script is a \`${root.type}\` to it`);
  // In the grammar, the beginning of some here-documents, and a `-` before their `<<`, belong to no node.
  const isLoose = tree.hasError || script.includes("<<");
  const end = readLeaves(script, root, 0, isLoose);
  if (end === 0 ? /[^\s\\]/.test(script) : isLost(script.slice(end), isLoose)) throw new ParserFault("text is missing");
  return tree;
}

/** The end of the last leaf. Leaves come in order, with nothing but white space and continued lines between them. */
function readLeaves(script: string, node: SyntaxNode, from: number, isLoose: boolean): number {
  if (node.start > node.end || node.end > script.length) throw new ParserFault("a node lies outside of the text");
  if (node.children.length > 0 && !QUOTED.has(node.type)) {
    return node.children.reduce((end, child) => readLeaves(script, child, end, isLoose), from);
  }
  if (node.end === 0) return from;
  if (node.type === "comment" && script[node.start] !== "#") throw new ParserFault("it takes a command for a comment");
  if (isLost(script.slice(from, node.start), isLoose)) throw new ParserFault("text is missing");
  return Math.max(from, node.end);
}

/** Nodes that include the text between their children. */
const QUOTED: ReadonlySet<string> = new Set(["string", "translated_string", "heredoc_body"]);

const isLost = (gap: string, isLoose: boolean): boolean => !isLoose && /[^\s\\]/.test(gap);
