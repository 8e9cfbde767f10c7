import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";

export const isRedirect = ({ type }: SyntaxNode): boolean => type.endsWith("_redirect");

/** The redirections among nodes, with those that follow the start of a here-document: `<<E > file`. */
export const listRedirects = (nodes: readonly SyntaxNode[]): SyntaxNode[] =>
  nodes.filter(isRedirect).flatMap((node) => [node, ...listRedirects(node.children)]);

/** Whether `node` is a descriptor, such as `2` or `{name}`, that ends where a redirection starts. */
export function isDescriptorAt(tree: SyntaxTree, node: SyntaxNode, redirectStart: number): boolean {
  if (node.end !== redirectStart) return false;
  return /^(?:\d+|\{\w+\})$/.test(getText(tree, node));
}

/** The grammar takes the words after the target of a redirection for further targets; they are arguments. */
export const getStrayWords = (redirect: SyntaxNode): readonly SyntaxNode[] =>
  redirect.type === "file_redirect" ? listTargets(redirect).slice(1) : [];

export const getTarget = (redirect: SyntaxNode): SyntaxNode | undefined =>
  redirect.type === "file_redirect" ? listTargets(redirect)[0] : redirect.children.at(-1);

const listTargets = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter(({ type }) => !/^(?:file_descriptor|ERROR|[&<>|]+)$/.test(type));

/** After a compound command the grammar reads `<<<` as an error and `<`. */
export function isMisreadInput(tree: SyntaxTree, node: SyntaxNode): boolean {
  return node.type === "ERROR" && getText(tree, node).endsWith("<");
}

/** The text of a here-document, without the tabs that `<<-` removes. */
export function getHereDocument(tree: SyntaxTree, redirect: SyntaxNode, body: SyntaxNode): string {
  // Its range starts after an expansion that the body begins with.
  const start = tree.script.lastIndexOf("\n", body.start - 1) + 1;
  const text = tree.script.slice(Math.min(start, body.start), body.end);
  return redirect.children.some(({ type }) => type === "<<-") ? text.replace(/^\t+/gm, "") : text;
}
