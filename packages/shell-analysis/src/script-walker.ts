import { posix } from "node:path";
import { listWordNodes, readVariants } from "./command-words.js";
import { readAfterPattern } from "./dialects.js";
import { EFFORT, MAX_READ_LENGTH, MAX_ROUNDS } from "./limits.js";
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
import { isStartFile, listVariableScripts, visitVariables } from "./run-variables.js";
import type { ScriptVisitor } from "./script-visitor.js";
import { getText, listFunctions, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { isUncertain, joinTexts, toUnknown, UNKNOWN, withoutUnknown } from "./unknown.js";
import { addParameters, collectVariables, isSameVariables, readInto, type Variables } from "./variables.js";
import { type Expansions, NO_EXPANSIONS, readValue } from "./words.js";

/** Visits every command of a script, wherever it is. Returns what the script is known to print. */
export function walkScript(
  tree: SyntaxTree,
  input: string | undefined,
  outer: Variables,
  visitor: ScriptVisitor,
): string | undefined {
  let read: Variables = new Map();
  let variables = collectVariables(tree, outer, read, NO_EXPANSIONS);
  for (let round = 1; ; round += 1) {
    const walker = new Walker(
      { tree, visitor, functions: listFunctions(tree), calls: new Map(), readLength: 0 },
      variables,
    );
    const output = walker.visit(tree.root, input);
    if (variables !== outer) visitVariables(tree, variables, visitor);
    if (variables === outer && walker.read.size === 0) return output;
    // Outputs of substitutions and values that were read are known only after a pass: repeat with the variables that result.
    read = new Map([...read, ...walker.read]);
    const next = collectVariables(tree, outer, read, walker.createExpansions(0));
    if (isSameVariables(variables, next)) return output;
    if (round === MAX_ROUNDS) {
      visitor.giveUp();
      return output;
    }
    variables = next;
  }
}

/** Arrays of zsh, yash and bash that define commands or files, or name what the shell runs by itself. */
const HOOKS =
  /^(?:COMMAND_NOT_FOUND_HANDLER|YASH_AFTER_CD|PROMPT_COMMAND|\w+_functions|(?:dis_)?(?:functions|[gs]?aliases)|mapfile)$/;

/** Shared by all parts of a script. */
interface Walk {
  readonly tree: SyntaxTree;
  readonly visitor: ScriptVisitor;
  /** Bodies, by name. */
  readonly functions: ReadonlyMap<string, SyntaxNode>;
  /** What calls of them print, by name, arguments and input: each is followed once. */
  readonly calls: Map<string, string | undefined>;
  /** Of all values that were put into words. */
  readLength: number;
}

/** An expansion, a substitution or a pattern; `$'…'` and `$"…"` are plain text. A tilde alone is the value of `HOME`. */
const COMPUTED_NAME = /\$(?!['"])|[`*?]|^[^[]*\[.*\]|^~[-+]?\d*$/s;

const EVALUATED: ReadonlySet<string> = new Set("raw_string string ansi_c_string word concatenation".split(" "));

/** Visits nodes; a statement passes its input on to the statements in it. */
class Walker {
  /** Values assigned by `read` and similar builtins, by variable. */
  readonly read = new Map<string, readonly string[]>();
  private readonly tree: SyntaxTree;
  private readonly visitor: ScriptVisitor;
  private readonly outputs = new Map<SyntaxNode, string | undefined>();
  /** What the script has written, by normal path. */
  private readonly written: Map<string, string>;
  /** The input that `exec` has redirected. */
  private standingInput: string | undefined;

  constructor(
    private readonly walk: Walk,
    private readonly variables: Variables,
    private readonly active: readonly string[] = [],
    written: Map<string, string> = new Map(),
  ) {
    this.tree = walk.tree;
    this.visitor = walk.visitor;
    this.written = written;
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
      case "heredoc_redirect":
        this.visitRest(node, undefined);
        return undefined;
      case "heredoc_body":
        this.visitBackticks(getText(this.tree, node));
        return this.visitChildren(node, undefined);
      case "command_substitution":
      case "process_substitution":
        return this.visitSubstitution(node);
      case "expansion":
        this.visitExpansion(node);
        return undefined;
      case "test_command":
      case "subscript":
      case "ERROR":
        this.visitEvaluated(node);
        return this.visitChildren(node, input);
      case "for_statement":
      case "c_style_for_statement":
      case "while_statement":
      case "if_statement":
      case "case_statement": {
        const output = this.visitChildren(node, input);
        return output === undefined ? undefined : toUnknown(output);
      }
      default:
        return this.visitChildren(node, input);
    }
  }

  /** All children, each with the same input; what they are known to print, in order. */
  private visitChildren(node: SyntaxNode, outer: string | undefined): string | undefined {
    const redirected = this.getInput(listRedirects(node.children));
    const input = redirected ?? outer;
    const outputs = node.children.map((child) => (child.children.length === 0 ? undefined : this.visit(child, input)));
    const known = outputs.filter((output) => output !== undefined);
    // `$(< file)` prints the file.
    return known.length === 0 ? redirected : joinTexts(known);
  }

  /** The words in `${…}` that replace a value: to the grammar, backticks in them are plain text. */
  private visitExpansion(node: SyntaxNode): void {
    this.visitChildren(node, undefined);
    const text = getText(this.tree, node);
    // To the grammar, a substitution in a pattern is plain text: `${x#$(…)}`.
    this.visitor.visitDeferred(text.slice(2, -1));
    if (text.includes("`")) this.outputs.set(node, this.visitBackticks(text));
  }

  /** Quoted text is evaluated again as a number, a subscript or a name: `[[ 'a[$(…)]' -eq 1 ]]`, `${a['$(…)']}`. */
  private visitEvaluated(node: SyntaxNode): void {
    for (const child of node.children) {
      if (EVALUATED.has(child.type)) this.visitor.visitDeferred(this.readText(child));
      else if (/_expression$/.test(child.type)) this.visitEvaluated(child);
    }
  }

  /** The input from redirections, whatever their descriptor. */
  private getInput(redirects: readonly SyntaxNode[]): string | undefined {
    const known = redirects.flatMap((redirect) => this.getRedirectInput(redirect) ?? []);
    return known.length === 0 ? undefined : known.join("");
  }

  private visitPipeline(node: SyntaxNode, input: string | undefined): string | undefined {
    let flowing = input;
    for (const child of node.children) if (child.children.length > 0) flowing = this.visit(child, flowing) ?? UNKNOWN;
    return flowing;
  }

  private visitSubstitution(node: SyntaxNode, input?: string): string | undefined {
    if (this.outputs.has(node) && input === undefined) return this.outputs.get(node);
    const text = getText(this.tree, node);
    const output = this.visitChildren(node, input);
    // Backticks in backticks are escaped.
    const isEscaped = text.startsWith("`") && text.includes("\\");
    this.outputs.set(node, (isEscaped ? this.visitBackticks(text) : undefined) ?? output);
    return this.outputs.get(node);
  }

  private visitRedirected(node: SyntaxNode, input: string | undefined): string | undefined {
    const redirects = listRedirects(node.children);
    const [body] = node.children.filter((child) => !isRedirect(child) && child.type !== "ERROR");
    const isDescriptorOf = (word: SyntaxNode) => redirects.some(({ start }) => isDescriptorAt(this.tree, word, start));
    const extra = redirects.flatMap((redirect) => getStrayWords(redirect)).filter((word) => !isDescriptorOf(word));
    const bodyInput = this.getInput(redirects) ?? this.getMisreadInput(node) ?? input;
    const output = body === undefined ? bodyInput : this.visitBody(body, bodyInput, extra);
    this.write(redirects, output);
    // A plain POSIX shell reads `&>` as `&` and `>`: the command before it runs in the background, and a new one begins.
    if (extra.length > 0 && redirects.some((redirect) => /^&>/.test(getText(this.tree, redirect)))) {
      this.visitVariants(extra, undefined);
    }
    for (const redirect of redirects) this.visitRest(redirect, output);
    return output;
  }

  private visitBody(body: SyntaxNode, input: string | undefined, extra: readonly SyntaxNode[]): string | undefined {
    return body.type === "command" ? this.visitCommand(body, input, extra) : this.visit(body, input);
  }

  /** The input of a compound command whose `<<<` the grammar misread. */
  private getMisreadInput(node: SyntaxNode): string | undefined {
    const at = node.children.findIndex((child) => isMisreadInput(this.tree, child));
    const target = at === -1 ? undefined : node.children[at + 1]?.children.at(-1);
    return target === undefined ? undefined : this.readText(target);
  }

  /** With the separators that were set last: arrays are joined by them. */
  private readText(node: SyntaxNode): string {
    const expansions = this.createExpansions(0);
    const getVariable = (name: string) =>
      name === "IFS" ? this.variables.get(name)?.at(-1) : expansions.getVariable(name);
    return readValue(this.tree, node, { ...expansions, getVariable });
  }

  /** Passes output to `>(…)`, and records output to files, which may be run later. */
  private write(redirects: readonly SyntaxNode[], output: string | undefined): void {
    for (const redirect of redirects) {
      const target = getTarget(redirect);
      if (
        output === undefined ||
        target === undefined ||
        !/^&?>/.test(getText(this.tree, redirect).replace(/^\d+/, ""))
      )
        continue;
      if (target.type === "process_substitution") this.visitSubstitution(target, output);
      else this.writeFile(this.readText(target), output);
    }
  }

  private writeFile(path: string, text: string): void {
    const normal = posix.normalize(path);
    this.written.set(normal, `${this.written.get(normal) ?? ""}${text}`);
    this.visitor.visitWritten(normal, this.written.get(normal) ?? "");
  }

  private getRedirectInput(redirect: SyntaxNode): string | undefined {
    if (redirect.type === "heredoc_redirect") {
      const body = redirect.children.find(({ type }) => type === "heredoc_body");
      return body === undefined ? undefined : getHereDocument(this.tree, redirect, body);
    }
    const target = getTarget(redirect);
    if (target === undefined) return undefined;
    if (redirect.type === "herestring_redirect") {
      this.visit(target, undefined);
      return `${this.readText(target)}\n`;
    }
    if (!redirect.children.some(({ type }) => type === "<")) return undefined;
    if (redirect.children.some((child) => isMisreadInput(this.tree, child))) {
      const from = redirect.children.findIndex(({ type }) => type === "<");
      return this.readText(redirect.children[from + 1] ?? target);
    }
    if (target.type === "process_substitution") return this.visit(target, undefined) ?? UNKNOWN;
    return this.written.get(posix.normalize(this.readText(target)));
  }

  /** The line continues after the start of a here-document: pipelines, lists, further redirections. */
  private visitRest(redirect: SyntaxNode, output: string | undefined): void {
    for (const child of redirect.children) {
      if (child.type === "heredoc_body" ? isQuoted(this.tree, redirect) : child.children.length === 0) continue;
      this.visit(child, child.type === "pipeline" ? output : undefined);
    }
  }

  /** Some variables name what other programs run. */
  private visitAssignment({ children: [name, , value] }: SyntaxNode): void {
    if (name === undefined || value === undefined) return;
    const text = getText(this.tree, name);
    const scripts = listVariableScripts(text, this.readText(value));
    for (const script of scripts) this.visitor.visitScript(script, this.variables);
    const [, path] = /^mapfile\[(.+)\]$/s.exec(text) ?? [];
    if (path !== undefined) this.writeFile(path.replace(/^(["'])(.*)\1$/, "$2"), this.readText(value));
    if (value.type === "array" && HOOKS.test(text)) this.visitor.visitText(getText(this.tree, value));
    if (!isStartFile(text)) return;
    this.visitor.visitStartFile(this.readText(value));
    const file =
      value.type === "process_substitution"
        ? this.visitSubstitution(value)
        : this.written.get(posix.normalize(this.readText(value)));
    if (file !== undefined) this.visitor.visitScript(file, this.variables);
  }

  private visitBackticks(text: string): string | undefined {
    let output: string | undefined;
    for (const [, quoted = ""] of text.matchAll(/`((?:[^`\\]|\\[\s\S])*)(?:`|\\?$)/g)) {
      output = this.visitor.visitScript(quoted.replace(/\\([`\\$])/g, "$1"), this.variables);
    }
    return output;
  }

  private visitCommand(node: SyntaxNode, outer: string | undefined, extra: readonly SyntaxNode[]): string | undefined {
    const parts = [...node.children, ...extra];
    const redirects = listRedirects(parts);
    const redirected = this.getInput(redirects);
    for (const part of parts) if (part.children.length > 0) this.visit(part, undefined);
    // To the grammar, `==` and `=~` in any command begin a pattern, which ends at the next `]]`.
    for (const part of parts)
      if (part.type === "regex") this.visitor.visitScript(readAfterPattern(getText(this.tree, part)), this.variables);
    // Any program may run what a variable of its environment names: `CC=name make`.
    for (const { type, children } of parts) {
      const value = children[2];
      if (type === "variable_assignment" && value !== undefined) this.visitor.visitText(this.readText(value));
    }
    const output = this.visitVariants(parts, redirected ?? outer ?? this.standingInput);
    this.write(redirects, output);
    return output;
  }

  private visitVariants(parts: readonly SyntaxNode[], input: string | undefined): string | undefined {
    const command = { input, variables: this.variables, files: this.getFiles(parts) };
    const nodes = listWordNodes(this.tree, parts);
    const isComputed = nodes[0] !== undefined && COMPUTED_NAME.test(getText(this.tree, nodes[0]));
    let output: string | undefined;
    for (const words of readVariants(this.tree, nodes, (choice) => this.createExpansions(choice))) {
      const argv = words.map(withoutUnknown);
      const uncertain = new Set(words.filter(isUncertain).map(withoutUnknown));
      const own = this.visitor.visitCommand({ ...command, argv, uncertain });
      const printed = this.walk.functions.has(argv[0] ?? "") ? this.visitFunction(argv, input) : own;
      if (output === undefined) output = printed;
      else if (printed !== undefined && printed !== output) output = toUnknown(joinTexts([output, printed]));
      this.follow(argv, input, printed);
      if (isComputed) this.visitor.visitComputed(argv.slice(1));
    }
    const fed = output ?? input;
    for (const part of parts) {
      const isSink = part.type === "process_substitution" && getText(this.tree, part).startsWith(">(");
      if (isSink && fed !== undefined) this.visitSubstitution(part, fed);
    }
    return output;
  }

  /** Records the effects of a command on later ones. */
  private follow(argv: readonly string[], input: string | undefined, output: string | undefined): void {
    const [program, ...args] = argv;
    if (program === "exec" && args.length === 0) this.standingInput = input;
    if (program === "tee" && output !== undefined) for (const path of args) this.writeFile(path, output);
    if (input === undefined) return;
    const read = readInto(argv, input);
    if (read.length > 0) this.visitor.spend(input.length * EFFORT.textCharacter);
    for (const [name, values] of read) this.read.set(name, [...(this.read.get(name) ?? []), ...values]);
  }

  /** The body of a function of this script, with the arguments and the input it is called with. */
  private visitFunction([name = "", ...args]: readonly string[], input: string | undefined): string | undefined {
    const body = this.walk.functions.get(name);
    if (body === undefined || this.active.includes(name)) return undefined;
    const key = JSON.stringify([name, args, input]);
    const { calls } = this.walk;
    if (calls.has(key)) return calls.get(key);
    calls.set(key, undefined);
    this.visitor.spend(this.variables.size * EFFORT.variable);
    for (const arg of args) this.visitor.visitDeferred(arg);
    const variables = addParameters(this.variables, [name, ...args]);
    const output = new Walker(this.walk, variables, [...this.active, name], this.written).visit(body, input);
    calls.set(key, output);
    return output;
  }

  private getFiles(parts: readonly SyntaxNode[]): ReadonlyMap<string, string> {
    const substituted = new Map<string, string>();
    const add = (node: SyntaxNode) => {
      const output = node.type === "process_substitution" ? this.visitSubstitution(node) : undefined;
      if (output !== undefined) substituted.set(getText(this.tree, node), output);
      if (node.type === "concatenation") node.children.forEach(add);
    };
    parts.forEach(add);
    if (substituted.size === 0) return this.written;
    for (const [name, output] of substituted) if (name.startsWith("<(")) this.visitor.visitSubstituted(name, output);
    this.visitor.spend(this.written.size);
    return new Map([...this.written, ...substituted]);
  }

  createExpansions(choice: number): Expansions {
    return {
      getVariable: (name) => {
        const values = this.variables.get(name) ?? [];
        const value = values[Math.min(choice, values.length - 1)];
        this.walk.readLength += value?.length ?? 0;
        if (this.walk.readLength <= MAX_READ_LENGTH) return value;
        this.visitor.giveUp();
        return undefined;
      },
      getOutput: (substitution) => this.outputs.get(substitution),
    };
  }
}
