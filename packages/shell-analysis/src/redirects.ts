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
  // Its range starts after an expansion that the body begins with; a body that begins with a backslash is read as words.
  const misread = redirect.children.find((child) => getText(tree, child).startsWith("\n"));
  const start = misread === undefined ? tree.script.lastIndexOf("\n", body.start - 1) : misread.start;
  const text = tree.script.slice(Math.min(start + 1, body.start), body.end);
  const lines = redirect.children.some(({ type }) => type === "<<-") ? text.replace(/^\t+/gm, "") : text;
  return isQuoted(tree, redirect) ? lines : lines.replace(/\\([$`\\]|\n)/g, (_, each) => each.trim());
}

/** Whether the text of a here-document is taken as it is written. */
export const isQuoted = (tree: SyntaxTree, redirect: SyntaxNode): boolean =>
  redirect.children.some((child) => child.type === "heredoc_start" && /['"\\]/.test(getText(tree, child)));
