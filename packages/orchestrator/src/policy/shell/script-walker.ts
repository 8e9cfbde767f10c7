import { MAX_VARIABLE_VALUES } from "./limits.js";
import { getLiteralOutput } from "./literal-output.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { type Expansions, readValue, readWords, type Word } from "./words.js";

/** Values that variables may have, by name. */
export type Variables = ReadonlyMap<string, readonly string[]>;

/** A command found in a script, with what is known of its surroundings. */
export interface FoundCommand {
  readonly argv: readonly string[];
  /** What it reads, where that is spelled out. */
  readonly input: string | undefined;
  readonly variables: Variables;
  /** What process substitutions among its words print, by their text. */
  readonly files: ReadonlyMap<string, string>;
}

export interface ScriptVisitor {
  /** Takes a command and returns what it is known to print. */
  visitCommand(command: FoundCommand): string | undefined;
  /** A script inside a script, such as one between backticks in a here-document. */
  visitScript(script: string, variables: Variables): void;
  /** False when nesting is too deep to go on; `leave` is called otherwise. */
  enter(): boolean;
  leave(): void;
}

/** Visits every command of a script, wherever it stands. Returns what the script is known to print. */
export function walkScript(
  tree: SyntaxTree,
  input: string | undefined,
  outer: Variables,
  visitor: ScriptVisitor,
): string | undefined {
  return new Walker(tree, outer, visitor).visit(tree.root, input);
}

/** Statements that hand what they read to the statements in them. */
class Walker {
  private readonly variables: Variables;
  private readonly outputs = new Map<SyntaxNode, string | undefined>();

  constructor(
    private readonly tree: SyntaxTree,
    outer: Variables,
    private readonly visitor: ScriptVisitor,
  ) {
    this.variables = collectVariables(tree, outer);
  }

  /** What the node is known to print; undefined when nothing is known. */
  visit(node: SyntaxNode, input: string | undefined): string | undefined {
    if (!this.visitor.enter()) return undefined;
    const output = this.visitInside(node, input);
    this.visitor.leave();
    return output;
  }

  private visitInside(node: SyntaxNode, input: string | undefined): string | undefined {
    switch (node.type) {
      case "command":
      case "declaration_command":
      case "unset_command":
        return this.visitCommand(node, input, []);
      case "pipeline":
        return this.visitPipeline(node, input);
      case "redirected_statement":
        return this.visitRedirected(node, input);
      case "variable_assignment":
        this.visitAssignment(node);
        return this.visitChildren(node, undefined);
      case "heredoc_body":
        this.visitBackticks(getText(this.tree, node));
        return this.visitChildren(node, undefined);
      case "command_substitution":
      case "process_substitution":
        return this.visitSubstitution(node);
      default:
        return this.visitChildren(node, input);
    }
  }

  /** All children, each with the same input; what they are known to print, in order. */
  private visitChildren(node: SyntaxNode, input: string | undefined): string | undefined {
    const outputs = node.children.map((child) => (child.children.length === 0 ? undefined : this.visit(child, input)));
    const known = outputs.filter((output) => output !== undefined);
    return known.length === 0 ? undefined : known.join("");
  }

  private visitPipeline(node: SyntaxNode, input: string | undefined): string | undefined {
    let flowing = input;
    for (const child of node.children) if (child.children.length > 0) flowing = this.visit(child, flowing);
    return flowing;
  }

  private visitSubstitution(node: SyntaxNode): string | undefined {
    if (!this.outputs.has(node)) this.outputs.set(node, this.visitChildren(node, undefined));
    return this.outputs.get(node);
  }

  private visitRedirected(node: SyntaxNode, input: string | undefined): string | undefined {
    const redirects = node.children.filter(({ type }) => type.endsWith("_redirect"));
    const [body] = node.children.filter(({ type }) => !type.endsWith("_redirect"));
    const redirected = redirects
      .map((redirect) => this.getRedirectInput(redirect))
      .findLast((text) => text !== undefined);
    const extra = redirects.flatMap((redirect) => this.getStrayWords(redirect));
    const bodyInput = redirected ?? input;
    const output = body === undefined ? undefined : this.visitBody(body, bodyInput, extra);
    // `&>` is two things to a plain POSIX shell: what stands before it runs aside, and a new command begins.
    if (extra.length > 0 && redirects.some((redirect) => /^&>/.test(getText(this.tree, redirect)))) {
      this.visitVariants(extra, undefined);
    }
    for (const redirect of redirects) this.visitRest(redirect, output);
    return output;
  }

  private visitBody(body: SyntaxNode, input: string | undefined, extra: readonly SyntaxNode[]): string | undefined {
    return body.type === "command" ? this.visitCommand(body, input, extra) : this.visit(body, input);
  }

  /** The grammar takes the words behind the target of a redirection for further targets; they are arguments. */
  private getStrayWords(redirect: SyntaxNode): readonly SyntaxNode[] {
    if (redirect.type !== "file_redirect") return [];
    const targets = redirect.children.filter(({ type }) => type !== "file_descriptor" && !/^[&<>|]+$/.test(type));
    return targets.slice(1);
  }

  private getRedirectInput(redirect: SyntaxNode): string | undefined {
    if (redirect.type === "heredoc_redirect") {
      const body = redirect.children.find(({ type }) => type === "heredoc_body");
      return body === undefined ? undefined : this.getHereDocument(redirect, body);
    }
    const target = redirect.children.at(-1);
    if (target === undefined) return undefined;
    if (redirect.type === "herestring_redirect") {
      this.visit(target, undefined);
      return `${readValue(this.tree, target, this.createExpansions(0))}\n`;
    }
    const isInput = redirect.children.some(({ type }) => type === "<");
    return isInput && target.type === "process_substitution" ? this.visit(target, undefined) : undefined;
  }

  private getHereDocument(redirect: SyntaxNode, body: SyntaxNode): string {
    // Its range starts behind an expansion that the body begins with.
    const start = this.tree.script.lastIndexOf("\n", body.start - 1) + 1;
    const text = this.tree.script.slice(Math.min(start, body.start), body.end);
    return redirect.children.some(({ type }) => type === "<<-") ? text.replace(/^\t+/gm, "") : text;
  }

  /** The line of a here-document goes on behind its start: pipelines, lists, further redirections. */
  private visitRest(redirect: SyntaxNode, output: string | undefined): void {
    for (const child of redirect.children) {
      if (child.children.length === 0 && child.type !== "heredoc_body") continue;
      this.visit(child, child.type === "pipeline" ? output : undefined);
    }
  }

  /** Some variables say what other programs run. */
  private visitAssignment({ children: [name, , value] }: SyntaxNode): void {
    if (name === undefined || value === undefined || !RUN_VARIABLES.test(getText(this.tree, name))) return;
    this.visitor.visitScript(readValue(this.tree, value, this.createExpansions(0)), this.variables);
  }

  private visitBackticks(text: string): void {
    for (const [, script = ""] of text.matchAll(/`([^`]*)`/g)) this.visitor.visitScript(script, this.variables);
  }

  private visitCommand(node: SyntaxNode, input: string | undefined, extra: readonly SyntaxNode[]): string | undefined {
    const parts = [...node.children, ...extra];
    const redirected = parts.map((part) => (part.type.endsWith("_redirect") ? this.getRedirectInput(part) : undefined));
    for (const part of parts) if (part.children.length > 0) this.visit(part, undefined);
    return this.visitVariants(parts, redirected.findLast((text) => text !== undefined) ?? input);
  }

  private visitVariants(parts: readonly SyntaxNode[], input: string | undefined): string | undefined {
    const command = { input, variables: this.variables, files: this.getFiles(parts) };
    let output: string | undefined;
    for (const argv of this.readVariants(parts)) {
      const printed = this.visitor.visitCommand({ ...command, argv });
      output ??= printed;
    }
    return output;
  }

  private getFiles(parts: readonly SyntaxNode[]): Map<string, string> {
    const files = new Map<string, string>();
    for (const part of parts) {
      const output = part.type === "process_substitution" ? this.visitSubstitution(part) : undefined;
      if (output !== undefined) files.set(getText(this.tree, part), output);
    }
    return files;
  }

  /** The words of a command for each set of values of its variables, with and without words that may be empty. */
  private readVariants(parts: readonly SyntaxNode[]): string[][] {
    const nodes = parts.filter(
      ({ type }) => !type.endsWith("_redirect") && !type.startsWith("variable_assignment") && type !== "$",
    );
    const variants = new Map<string, string[]>();
    for (let choice = 0; choice < MAX_VARIABLE_VALUES; choice += 1) {
      const words = nodes.flatMap((node) => readWords(this.tree, node, this.createExpansions(choice)));
      const before = variants.size;
      for (const argv of [getTexts(words), getTexts(words.filter(({ isOptional }) => !isOptional))]) {
        if (argv.length > 0) variants.set(JSON.stringify(argv), argv);
      }
      if (variants.size === before) break;
    }
    return [...variants.values()];
  }

  private createExpansions(choice: number): Expansions {
    return {
      getVariable: (name) => {
        const values = this.variables.get(name) ?? [];
        return values[Math.min(choice, values.length - 1)];
      },
      getOutput: (substitution) => this.outputs.get(substitution),
    };
  }
}

const RUN_VARIABLES =
  /^(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|\w*ASKPASS|PROMPT_COMMAND|RSYNC_RSH|LESSOPEN)$/;

function getTexts(words: readonly Word[]): string[] {
  return words.map(({ text }) => text);
}

const NO_EXPANSIONS: Expansions = { getVariable: () => undefined, getOutput: () => undefined };

/** Every value a script spells out for a variable, wherever it does; the outer ones for those it does not set. */
function collectVariables(tree: SyntaxTree, outer: Variables): Variables {
  const variables = new Map<string, readonly string[]>(outer);
  const add = (name: string, values: readonly string[]) => {
    const known = variables.get(name) ?? [];
    variables.set(name, [...new Set([...known, ...values])].slice(0, MAX_VARIABLE_VALUES));
  };
  const visit = (node: SyntaxNode) => {
    const [name, , value] = node.children;
    if (node.type === "variable_assignment" && name !== undefined && value !== undefined) {
      if (value.type === "array") add(getText(tree, name), readArray(tree, value));
      else add(getText(tree, name), [readValue(tree, value, NO_EXPANSIONS)]);
    }
    if (node.type === "command") addBuiltinValues(tree, node, add);
    if (node.type === "for_statement") addLoopValues(tree, node, add);
    for (const child of node.children) visit(child);
  };
  visit(tree.root);
  return variables;
}

/** All elements, as `${name[@]}` has them, and each alone. */
function readArray(tree: SyntaxTree, array: SyntaxNode): string[] {
  const elements = getTexts(array.children.slice(1, -1).flatMap((child) => readWords(tree, child, NO_EXPANSIONS)));
  return [elements.join(" "), ...elements];
}

/** `set -- words` and `printf -v name format words`. */
function addBuiltinValues(
  tree: SyntaxTree,
  node: SyntaxNode,
  add: (name: string, values: readonly string[]) => void,
): void {
  const [program, ...args] = getTexts(node.children.flatMap((child) => readWords(tree, child, NO_EXPANSIONS)));
  if (program === "printf" && args[0] === "-v" && args[1] !== undefined) {
    add(args[1], [getLiteralOutput(["printf", ...args.slice(2)], undefined) ?? ""]);
  }
  if (program !== "set" || /^-./.test(args[0] ?? "") !== (args[0] === "--")) return;
  const words = args[0] === "--" ? args.slice(1) : args;
  for (const name of ["@", "*"]) add(name, [words.join(" ")]);
  for (const [index, word] of words.entries()) add(String(index + 1), [word]);
}

function addLoopValues(
  tree: SyntaxTree,
  node: SyntaxNode,
  add: (name: string, values: readonly string[]) => void,
): void {
  const name = node.children.find(({ type }) => type === "variable_name");
  const from = node.children.findIndex(({ type }) => type === "in");
  const to = node.children.findIndex(({ type }) => type === "do_group");
  if (name === undefined || from === -1) return;
  const words = node.children.slice(from + 1, to).filter(({ type }) => type !== ";");
  add(getText(tree, name), getTexts(words.flatMap((word) => readWords(tree, word, NO_EXPANSIONS))));
}
