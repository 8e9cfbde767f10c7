import { posix } from "node:path";
import {
  getHereDocument,
  getStrayWords,
  getTarget,
  isDescriptorAt,
  isMisreadInput,
  isQuoted,
  isRedirect,
  listRedirects,
} from "./redirects.js";
import { getText, joinAdjacent, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { joinTexts, UNKNOWN } from "./unknown.js";
import { collectVariables, countChoices, toGetVariable, type Variables } from "./variables.js";
import { readValue, readWords } from "./words.js";

/** What is done with the parts of a script. A word or text may have parts that are known only at run time, marked by `UNKNOWN`. */
export interface ScriptVisitor {
  /**
   * A command, with the words that it has for different values of its variables, and its input where it does not have that of the script.
   * Returns what it prints.
   */
  visitCommand(variants: readonly (readonly string[])[], input: string | undefined): string;
  /** A text that may be code in some language. */
  visitCode(text: string): void;
  /** `NAME=value`. `isExported`: in front of a command, or in a script that exports variables. */
  visitAssignment(name: string, value: string, isExported: boolean): void;
  /** Whether a variable in capitals is set by the command, and not by its environment. */
  isAssigned(name: string): boolean;
  /** What is written to a file. */
  visitWritten(path: string, text: string): void;
  /** False when nesting is too deep to continue; otherwise the caller must call `leave`. */
  enter(): boolean;
  leave(): void;
}

/** Visits every command of a script, wherever it is. */
export function walkScript(tree: SyntaxTree, input: string | undefined, visitor: ScriptVisitor): void {
  new Walker(tree, collectVariables(tree, visitor.isAssigned), visitor).visit(tree.root, input);
}

class Walker {
  readonly #tree: SyntaxTree;
  readonly #variables: Variables;
  readonly #visitor: ScriptVisitor;

  constructor(tree: SyntaxTree, variables: Variables, visitor: ScriptVisitor) {
    this.#tree = tree;
    this.#variables = variables;
    this.#visitor = visitor;
  }

  /** Returns what the node prints; undefined for one that prints nothing. */
  visit(node: SyntaxNode, input: string | undefined): string | undefined {
    if (!this.#visitor.enter()) return undefined;
    const output = this.#visitInside(node, input);
    this.#visitor.leave();
    return output;
  }

  #visitInside(node: SyntaxNode, input: string | undefined): string | undefined {
    switch (node.type) {
      case "command":
      case "declaration_command":
      case "unset_command":
        return this.#visitCommand(node.children, input);
      case "pipeline": {
        let flowing = input;
        for (const child of node.children)
          if (child.children.length > 0) flowing = this.visit(child, flowing) ?? UNKNOWN;
        return flowing;
      }
      case "redirected_statement":
        return this.#visitRedirected(node, input);
      case "for_statement":
      case "c_style_for_statement":
      case "while_statement":
      case "if_statement":
      case "case_statement": {
        const output = this.#visitChildren(node, input);
        const [, name] = node.children;
        if (node.type === "for_statement" && name !== undefined)
          this.#visitor.visitAssignment(
            getText(this.#tree, name),
            toGetVariable(this.#variables, 0)(getText(this.#tree, name)) ?? "",
            EXPORTS.test(this.#tree.script),
          );
        return output === undefined ? undefined : output + UNKNOWN;
      }
      case "function_definition":
        this.#write(listRedirects(node.children), UNKNOWN);
        return this.#visitChildren(node, undefined);
      case "variable_assignment":
        this.#visitAssignment(node, EXPORTS.test(this.#tree.script));
        return undefined;
      case "heredoc_redirect":
        this.#visitRest(node, undefined);
        return undefined;
      case "command_substitution":
        // Backticks in backticks are escaped.
        if (/^`[^`]*\\/.test(getText(this.#tree, node))) this.#visitor.visitCode(getText(this.#tree, node));
        return this.#visitChildren(node, undefined);
      case "heredoc_body":
      case "expansion":
      case "subscript":
      case "ERROR":
        // What the grammar takes for plain text here may be evaluated.
        if (/`|\$\(|\[/.test(getText(this.#tree, node))) this.#visitor.visitCode(getText(this.#tree, node));
        return this.#visitChildren(node, input);
      case "regex":
        // In any command, `==` and `=~` begin a pattern to the grammar, which ends at the next `]]`.
        this.#visitor.visitCode(getText(this.#tree, node));
        return undefined;
      default:
        return this.#visitChildren(node, input);
    }
  }

  /** All children, each with the same input; what they print, in order. */
  #visitChildren(node: SyntaxNode, outer: string | undefined): string | undefined {
    const input = this.#getInput(listRedirects(node.children)) ?? outer;
    const outputs = node.children.map((child) =>
      child.children.length > 0 ? this.visit(child, input) : this.#visitLeaf(child),
    );
    const known = outputs.filter((output) => output !== undefined);
    return known.length === 0 ? undefined : joinTexts(known);
  }

  /** Between single quotes, a substitution is evaluated by what the text is given to: as a number, a subscript or a prompt. */
  #visitLeaf(node: SyntaxNode): undefined {
    const isQuotedText = node.type === "raw_string" || node.type === "ansi_c_string";
    if (isQuotedText && /\$\(|`/.test(getText(this.#tree, node))) this.#visitor.visitCode(this.#readText(node));
  }

  /** `isExported`: programs get the value. */
  #visitAssignment(node: SyntaxNode, isExported: boolean): void {
    const [name, , value] = node.children;
    const text = name === undefined ? "" : getText(this.#tree, name);
    // An array, or an element of one, may be of those by which a shell runs commands.
    const isElement = text.includes("[") || value?.type === "array";
    if (value !== undefined) this.#visitor.visitAssignment(text, this.#readText(value), isExported || isElement);
    this.#visitChildren(node, undefined);
  }

  #visitCommand(children: readonly SyntaxNode[], outer: string | undefined): string {
    const redirects = listRedirects(children);
    const input = this.#getInput(redirects) ?? outer;
    for (const child of children) {
      const isSink = child.type === "process_substitution" && getText(this.#tree, child).startsWith(">(");
      if (isSink) this.#visitChildren(child, input ?? UNKNOWN);
      else if (child.type === "variable_assignment") this.#visitAssignment(child, true);
      else if (child.children.length > 0) this.visit(child, undefined);
      else this.#visitLeaf(child);
    }
    const nodes = listWordNodes(this.#tree, children);
    const variants = new Map<string, string[]>();
    for (let choice = 0; choice < countChoices(this.#variables); choice += 1) {
      const words = nodes.flatMap((node) => readWords(this.#tree, node, toGetVariable(this.#variables, choice)));
      const key = JSON.stringify(words);
      if (variants.has(key)) break;
      if (words.length > 0) variants.set(key, words);
    }
    // A variable of the environment may be empty: `git $FLAGS push`.
    const getVariable = toGetVariable(this.#variables, 0);
    const rest = nodes.flatMap((node) => readWords(this.#tree, node, (name) => getVariable(name) ?? ""));
    if (rest.length > 0) variants.set(JSON.stringify(rest), rest);
    const output = variants.size === 0 ? "" : this.#visitor.visitCommand([...variants.values()], input);
    this.#write(redirects, output);
    return output;
  }

  #visitRedirected(node: SyntaxNode, outer: string | undefined): string | undefined {
    const redirects = listRedirects(node.children);
    const [body] = node.children.filter((child) => !isRedirect(child) && child.type !== "ERROR");
    const isDescriptorOf = (word: SyntaxNode) => redirects.some(({ start }) => isDescriptorAt(this.#tree, word, start));
    const extra = redirects.flatMap((redirect) => getStrayWords(redirect)).filter((word) => !isDescriptorOf(word));
    const input = this.#getInput(redirects) ?? this.#getMisreadInput(node) ?? outer;
    const isCommand = body?.type === "command";
    const output =
      body === undefined
        ? undefined
        : isCommand
          ? this.#visitCommand([...body.children, ...extra], input)
          : this.visit(body, input);
    this.#write(redirects, output ?? (body === undefined ? "" : UNKNOWN));
    // A plain POSIX shell reads `&>` as `&` and `>`: the command before it runs in the background, and a new one begins.
    if (extra.length > 0) this.#visitCommand(extra, undefined);
    for (const redirect of redirects) this.#visitRest(redirect, output);
    return output;
  }

  /** The input of a compound command whose `<<<` the grammar misread. */
  #getMisreadInput(node: SyntaxNode): string | undefined {
    const at = node.children.findIndex((child) => isMisreadInput(this.#tree, child));
    const target = at === -1 ? undefined : node.children[at + 1]?.children.at(-1);
    return target === undefined ? undefined : this.#readText(target);
  }

  /** The input from redirections, whatever their descriptor. */
  #getInput(redirects: readonly SyntaxNode[]): string | undefined {
    const known = redirects.flatMap((redirect) => this.#getRedirectInput(redirect) ?? []);
    return known.length === 0 ? undefined : joinTexts(known);
  }

  #getRedirectInput(redirect: SyntaxNode): string | undefined {
    if (redirect.type === "heredoc_redirect") {
      const body = redirect.children.find(({ type }) => type === "heredoc_body");
      const text = body === undefined ? "" : getHereDocument(this.#tree, redirect, body);
      return isQuoted(this.#tree, redirect) || !/[$`]/.test(text) ? text : text + UNKNOWN;
    }
    const target = getTarget(redirect);
    if (target === undefined) return undefined;
    if (redirect.type === "herestring_redirect") return `${this.#readText(target)}\n`;
    if (!redirect.children.some(({ type }) => type === "<")) return undefined;
    if (!redirect.children.some((child) => isMisreadInput(this.#tree, child))) {
      const text = this.#readText(target);
      return text === "/dev/null" ? "" : text + UNKNOWN;
    }
    const from = redirect.children.findIndex(({ type }) => type === "<");
    return this.#readText(redirect.children[from + 1] ?? target);
  }

  /** The line continues after the start of a here-document: pipelines, lists, further redirections. */
  #visitRest(redirect: SyntaxNode, output: string | undefined): void {
    for (const child of redirect.children) {
      if (child.type === "heredoc_body" && isQuoted(this.#tree, redirect)) continue;
      if (child.children.length > 0 || child.type === "heredoc_body")
        this.visit(child, child.type === "pipeline" ? output : undefined);
      else this.#visitLeaf(child);
    }
  }

  #write(redirects: readonly SyntaxNode[], output: string): void {
    for (const redirect of redirects) {
      const target = getTarget(redirect);
      if (target === undefined || !/^&?>/.test(getText(this.#tree, redirect).replace(/^\d+/, ""))) continue;
      if (target.type === "process_substitution") this.#visitChildren(target, output);
      else this.#visitor.visitWritten(posix.normalize(this.#readText(target)), output);
    }
  }

  #readText(node: SyntaxNode): string {
    return readValue(this.#tree, node, toGetVariable(this.#variables, 0));
  }
}

/** How a script gives its variables to programs. */
const EXPORTS = /\bexport\b|\b(?:declare|typeset|set) -\w*[xa]|allexport/;

/** The nodes of a command that are its words. */
function listWordNodes(tree: SyntaxTree, parts: readonly SyntaxNode[]): SyntaxNode[] {
  const isDescriptor = (part: SyntaxNode, next: SyntaxNode | undefined) =>
    next !== undefined && isRedirect(next) && isDescriptorAt(tree, part, next.start);
  const isWord = (part: SyntaxNode, index: number) =>
    !isRedirect(part) &&
    !part.type.startsWith("variable_assignment") &&
    part.type !== "$" &&
    !isDescriptor(part, parts[index + 1]);
  return joinAdjacent(parts.filter(isWord));
}
