import { MAX_VARIABLE_VALUES } from "./limits.js";
import { isDescriptorAt, isRedirect } from "./redirects.js";
import { getText, joinAdjacent, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { type Expansions, getWordTexts, readValue, readWords, SEPARATING } from "./words.js";

/** The nodes of a command that are its words. */
export function listWordNodes(tree: SyntaxTree, parts: readonly SyntaxNode[]): SyntaxNode[] {
  return joinAdjacent(
    parts.filter(
      (part, index) =>
        !isRedirect(part) &&
        !part.type.startsWith("variable_assignment") &&
        part.type !== "$" &&
        !isDescriptor(tree, part, parts[index + 1]),
    ),
  );
}

/**
 * The words of a command for each set of values of its variables, with and without words that may be empty. `createExpansions`
 * returns the values of one set.
 */
export function readVariants(
  tree: SyntaxTree,
  nodes: readonly SyntaxNode[],
  createExpansions: (choice: number) => Expansions,
): string[][] {
  const hasExpansions = nodes.some((node) => /[$`]/.test(getText(tree, node)));
  const variants = new Map<string, string[]>();
  const add = (argv: string[]) => {
    if (argv.length > 0) variants.set(JSON.stringify(argv), argv);
  };
  for (let choice = 0; choice < MAX_VARIABLE_VALUES; choice += 1) {
    const expansions = createExpansions(choice);
    const words = nodes.flatMap((node) => readWords(tree, node, expansions));
    const before = variants.size;
    add(getWordTexts(words));
    if (hasExpansions) {
      add(getWordTexts(words.filter(({ isOptional }) => !isOptional)));
      const blank = { ...expansions, isBlank: true };
      add(getWordTexts(nodes.flatMap((node) => readWords(tree, node, blank))));
      // zsh and fish do not split the value of a variable: `sh -c $script`.
      if (nodes.some((node) => /^-|^(?:trap|alias)$/.test(getText(tree, node))))
        add(nodes.map((node) => readValue(tree, node, expansions)));
      if (SEPARATING.test(expansions.getVariable("IFS") ?? "")) {
        const split = { ...expansions, splitsAtLetters: true };
        add(getWordTexts(nodes.flatMap((node) => readWords(tree, node, split))));
      }
    }
    if (variants.size === before) break;
  }
  return [...variants.values()];
}

/** `0<<<` and `{name}<`: a descriptor directly before a redirection is not a word. */
function isDescriptor(tree: SyntaxTree, part: SyntaxNode, next: SyntaxNode | undefined): boolean {
  return next !== undefined && isRedirect(next) && isDescriptorAt(tree, part, next.start);
}
