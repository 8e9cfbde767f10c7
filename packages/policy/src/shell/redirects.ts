import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";

export const isRedirect = ({ type }: SyntaxNode): boolean => type.endsWith("_redirect");

/** Whether `node` is a descriptor, such as `2` or `{name}`, that ends where a redirection starts. */
export function isDescriptorAt(tree: SyntaxTree, node: SyntaxNode, redirectStart: number): boolean {
  if (node.end !== redirectStart) return false;
  return /^(?:\d+|\{\w+\})$/.test(getText(tree, node));
}

/** The grammar takes the words after the target of a redirection for further targets; they are arguments. */
export function getStrayWords(redirect: SyntaxNode): readonly SyntaxNode[] {
  if (redirect.type !== "file_redirect") return [];
  const targets = redirect.children.filter(({ type }) => !/^(?:file_descriptor|ERROR|[&<>|]+)$/.test(type));
  return targets.slice(1);
}

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
