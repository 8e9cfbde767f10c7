import type { Tree, TreeCursor } from "@vscode/tree-sitter-wasm";
import { MAX_TREE_DEPTH, MAX_TREE_NODES } from "./limits.js";

/** A node of a parsed script. `type` is the name the bash grammar gives it; punctuation is its own type. */
export interface SyntaxNode {
  readonly type: string;
  /** UTF-16 offsets into the script. */
  readonly start: number;
  readonly end: number;
  readonly children: readonly SyntaxNode[];
}

/** A parsed script, outside of WebAssembly memory: it need not be freed. */
export interface SyntaxTree {
  readonly script: string;
  readonly root: SyntaxNode;
  /** The grammar could not parse a part of the script. */
  readonly hasError: boolean;
}

/** Copies a tree out of WebAssembly memory; undefined when it is too large or too deep. The caller frees `tree`. */
export function copyTree(script: string, tree: Tree): SyntaxTree | undefined {
  const cursor = tree.walk();
  try {
    const root = copyNodes(cursor);
    return root && { script, root, hasError: tree.rootNode.hasError };
  } finally {
    cursor.delete();
  }
}

interface OpenNode extends SyntaxNode {
  readonly children: SyntaxNode[];
}

function copyNodes(cursor: TreeCursor): SyntaxNode | undefined {
  const root = readNode(cursor);
  const path = [root];
  for (let count = 1; path.length > 0; count += 1) {
    if (count > MAX_TREE_NODES || path.length > MAX_TREE_DEPTH) return undefined;
    if (cursor.gotoFirstChild()) path.push(addChild(path, cursor));
    else if (!gotoNext(cursor, path)) return root;
    else path.push(addChild(path, cursor));
  }
  return root;
}

/** Leaves finished nodes until one has a sibling; false at the end of the tree. */
function gotoNext(cursor: TreeCursor, path: OpenNode[]): boolean {
  for (;;) {
    path.pop();
    if (path.length === 0) return false;
    if (cursor.gotoNextSibling()) return true;
    cursor.gotoParent();
  }
}

function addChild(path: readonly OpenNode[], cursor: TreeCursor): OpenNode {
  const node = readNode(cursor);
  path.at(-1)?.children.push(node);
  return node;
}

function readNode(cursor: TreeCursor): OpenNode {
  return { type: cursor.nodeType, start: cursor.startIndex, end: cursor.endIndex, children: [] };
}

export function getText(tree: SyntaxTree, node: SyntaxNode): string {
  return tree.script.slice(node.start, node.end);
}

/** Parts of one word that are separate nodes of the grammar, with nothing between them. */
export function joinAdjacent(nodes: readonly SyntaxNode[]): SyntaxNode[] {
  const words: SyntaxNode[] = [];
  for (const node of nodes) {
    const last = words.at(-1);
    if (last === undefined || last.end !== node.start) words.push(node);
    else words.splice(-1, 1, { type: "concatenation", start: last.start, end: node.end, children: [last, node] });
  }
  return words;
}
