import type { ShellParser } from "./parser.js";
import type { SyntaxNode, SyntaxTree } from "./syntax-tree.js";

/** The parser answered what cannot be a reading of the script: nothing it says counts. */
class ParserFault extends Error {
  constructor(problem: string) {
    super(`the parser of scripts does not work: ${problem}`);
    this.name = "ParserFault";
  }
}

/**
 * Parses a script and checks that the tree is one of all of its text; undefined when it is beyond a bound of the
 * parser. Throws a `ParserFault`: a parser that lost its memory reads every script as empty.
 */
export function parseChecked(parser: ShellParser, script: string): SyntaxTree | undefined {
  const tree = parser.parse(script);
  if (tree === undefined) return undefined;
  if (tree.script !== script) throw new ParserFault("it read another text");
  const { root } = tree;
  if (root.type !== "program" && !tree.hasError) throw new ParserFault(`a script is a \`${root.type}\` to it`);
  // The grammar leaves the beginning of some here-documents to no node, and a `-` before their `<<`.
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

/** Text between their children is theirs. */
const QUOTED: ReadonlySet<string> = new Set(["string", "translated_string", "heredoc_body"]);

const isLost = (gap: string, isLoose: boolean): boolean => !isLoose && /[^\s\\]/.test(gap);
