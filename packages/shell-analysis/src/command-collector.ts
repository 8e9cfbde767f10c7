import { posix } from "node:path";
import {
  findsFiles,
  guessCommands,
  listCode,
  listRunFiles,
  namesShell,
  readsCode,
  readsProgram,
  runsUnknownCode,
  takesCode,
} from "./code-guesses.js";
import {
  BASE_EFFORT,
  MAX_EFFORT,
  MAX_GUESS_WORDS,
  MAX_GUESSES,
  MAX_LITERAL_COMMANDS,
  MAX_NESTING,
  MAX_ROUGH_SCRIPT,
  SCRIPT_EFFORT,
} from "./limits.js";
import { getOutput } from "./literal-output.js";
import { isTooLong, type NestedCommand } from "./nested-commands.js";
import { findMisreading, isProse, isSettingsFile, listMadeFiles, loads } from "./not-plain.js";
import type { ShellParser } from "./parser.js";
import { parseChecked } from "./parser-check.js";
import { isQuietProgram } from "./plain-programs.js";
import { readRoughCommands } from "./rough-words.js";
import { type ScriptVisitor, walkScript } from "./script-walker.js";
import { isShell } from "./shells.js";
import { isUnknown, joinTexts, UNKNOWN, withoutUnknown } from "./unknown.js";
import { findProgramProblem } from "./words.js";
import { findNestedCommands, isWrapper } from "./wrappers.js";

/** Collects every command that a command or a script may run. */
export class CommandCollector implements ScriptVisitor {
  /** By their text, so that each is listed once. */
  readonly commands = new Map<string, string[]>();
  readonly beginnings = new Map<string, string[]>();
  readonly guesses = new Map<string, string[]>();
  complete = true;
  unclear: string | undefined;
  readsScript = false;
  readonly #parser: ShellParser;
  readonly #isTyped: boolean;
  /** What visited commands print, by words and input. */
  readonly #visited = new Map<string, string>();
  readonly #codes = new Set<string>();
  /** Variables that it sets. */
  readonly #assigned = new Set<string>();
  /** What is written to files, by their names. */
  readonly #written = new Map<string, string>();
  /** Names of files that commands make, with the numbers of these commands. */
  readonly #made = new Map<string, Set<number>>();
  readonly #ran: { name: string; args: readonly string[]; by: number; isScript: boolean }[] = [];
  /** Number of the command of a script that is being visited; the commands that it runs have the same one. */
  #at = 0;
  /** Whether a program runs that may load files, and whether one does that reads its own settings: `git`, another shell. */
  #hasUsers = false;
  #hasReaders = false;
  #changesPath = false;
  #findsFiles = false;
  #isGuessing = false;
  #depth = 0;
  #effort = 0;

  /** `isTyped`: what is searched are lines that more lines may follow, and need not be a whole script. */
  constructor(parser: ShellParser, { isTyped = false } = {}) {
    this.#parser = parser;
    this.#isTyped = isTyped;
  }

  enter(): boolean {
    const isOver = this.commands.size + this.guesses.size >= MAX_LITERAL_COMMANDS || this.#depth >= MAX_NESTING;
    if (isOver) this.complete = false;
    if (!this.complete) return false;
    this.#depth += 1;
    return true;
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** To be called after everything was visited: files that one command makes and another one runs. */
  finish(): void {
    this.#at += 1;
    for (const [path, text] of this.#written) {
      const isSettings = isSettingsFile(path) && this.#hasReaders;
      const isUsed = this.#hasUsers && (this.#findsFiles || !isProse(path));
      if (isUsed || this.#changesPath || isSettings) this.visitCode(text);
      if (isUnknown(text) && (isSettings || (this.#hasUsers && isSettingsFile(path))))
        this.#setUnclear(`what is written to \`${path}\` is known only at run time`);
    }
    const written = new Map([...this.#written].map(([path, text]) => [posix.basename(path), text]));
    for (const { name, args, by, isScript } of this.#ran) {
      const text = written.get(name);
      if (text !== undefined) this.#guess(() => this.#visitSuffixes(args));
      // Without a first line that names another program, a shell runs it.
      if (text !== undefined && (isScript ? !/^#!(?!.*sh\b)/.test(text) : /^#!.*sh\b/.test(text)))
        this.visitScript(text, undefined);
      const isMade = [...(this.#made.get(name) ?? [])].some((at) => at !== by);
      if (isMade || (text !== undefined && isUnknown(text)))
        this.#setUnclear(`\`${name}\`, which it runs, may be made by another command of it`);
    }
  }

  visitCommand(variants: readonly (readonly string[])[], input: string | undefined): string {
    this.#at += 1;
    const outputs = variants.map((words) => this.#visitCommand(words, input));
    return outputs.length > 1 ? joinTexts(outputs) + UNKNOWN : (outputs[0] ?? "");
  }

  #run(path: string, args: readonly string[], isScript: boolean): void {
    this.#ran.push({ name: posix.basename(path), args, by: this.#at, isScript });
  }

  #begin(words: string[]): void {
    this.beginnings.set(JSON.stringify(words), words);
  }

  #make(name: string): void {
    const by = this.#made.get(name) ?? new Set();
    this.#made.set(name, by.add(this.#at));
  }

  #visitCommand(words: readonly string[], input: string | undefined): string {
    if (words.length === 0 || !this.complete) return UNKNOWN;
    const key = JSON.stringify([words, input, this.#isGuessing]);
    this.#spend(key.length + BASE_EFFORT);
    const argv = words.map(withoutUnknown);
    const found = this.#isGuessing ? this.guesses : this.commands;
    found.set(JSON.stringify(argv), argv);
    if (isTooLong(argv)) this.complete = false;
    if (this.#visited.has(key) || !this.enter()) return this.#visited.get(key) ?? UNKNOWN;
    this.#visited.set(key, UNKNOWN);
    this.#setUnclear(findProgramProblem(words[0] ?? ""));
    if (!this.#isGuessing) this.#visitProgram(words, argv, input);
    const { inner, guesses, unclear } = findNestedCommands(words);
    this.#setUnclear(unclear);
    const printed = inner.map((each) => this.#visitInner(each, input) ?? "");
    this.#guess(() => guesses.map((each) => this.#visitInner(each, input)));
    const output = joinTexts([getOutput(words, input) ?? joinTexts(printed) + UNKNOWN]);
    this.#visited.set(key, output);
    this.leave();
    return output;
  }

  visitScript(text: string, input: string | undefined): void {
    if (isUnknown(text)) this.#setUnclear("a shell runs a text that is known only at run time");
    const script = withoutUnknown(text).replaceAll("\0", "");
    if (!/\S/.test(script) || !this.enter()) return;
    this.#spend(script.length * SCRIPT_EFFORT + BASE_EFFORT);
    const tree = this.complete ? parseChecked(this.#parser, script) : undefined;
    for (const [, name = ""] of script.matchAll(ASSIGNED)) this.#assigned.add(name);
    if (tree !== undefined) walkScript(tree, input, this);
    if (tree?.hasError !== false) {
      for (const words of readRoughCommands(script.slice(0, MAX_ROUGH_SCRIPT))) this.visitCommand([words], undefined);
      if (!this.#isTyped) {
        this.visitCode(script);
        this.#setUnclear("it is not written in the language of `sh`");
      }
    }
    if (tree === undefined) this.complete = false;
    const { readings, unclear } = findMisreading(script);
    for (const reading of readings) this.visitScript(reading, input);
    this.#setUnclear(unclear);
    this.leave();
  }

  visitCode(text: string): void {
    if (!this.complete || this.#codes.has(text)) return;
    this.#codes.add(text);
    this.#spend(text.length + BASE_EFFORT);
    if (/[\s'"(>]/.test(text)) for (const name of text.match(/[\w.-]+/g) ?? []) this.#make(name);
    for (const words of guessCommands(withoutUnknown(text))) {
      if (this.guesses.size >= MAX_LITERAL_COMMANDS) this.complete = false;
      else this.guesses.set(JSON.stringify(words), words);
    }
  }

  readonly isAssigned = (name: string): boolean => this.#assigned.has(name);

  visitAssignment(name: string, value: string, isExported: boolean): void {
    this.#assigned.add(name);
    if (isExported) this.visitCode(value);
    this.#changesPath ||= name === "PATH";
    if (name === "ENV") this.#run(value, [], true);
    if (loads(name, value)) this.#setUnclear(`\`${name}\` makes programs run or load what it names`);
  }

  visitWritten(path: string, text: string): void {
    this.#written.set(path, joinTexts([this.#written.get(path) ?? "", text]));
  }

  /** What the command makes, runs and reads besides other commands. */
  #visitProgram(words: readonly string[], argv: readonly string[], input: string | undefined): void {
    const [program = "", ...args] = argv;
    const uncertainAt = words.findIndex((word, at) => at > 0 && isUnknown(word));
    if (words.includes(UNKNOWN)) this.#setUnclear(`some arguments of \`${program}\` are not known`);
    if (uncertainAt > 0) this.#begin(argv.slice(0, uncertainAt));
    for (const name of listMadeFiles(argv)) this.#make(name);
    for (const path of program === "tee" ? args : []) this.visitWritten(path, input ?? UNKNOWN);
    for (const text of readsCode(argv) ? [...args, input ?? ""] : []) this.visitCode(text);
    for (const arg of (isQuietProgram(program) && !DECLARES.test(program)) || isShell(program) ? [] : args) {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(arg) ?? [];
      if (name !== undefined && value !== undefined) this.visitAssignment(name, value, true);
    }
    if ((program.includes("/") && !/\s/.test(program)) || this.#changesPath) this.#run(program, args, true);
    this.#hasReaders ||= program === "git" || (isShell(program) && this.#at > 1);
    if (program === "exec" && args.length === 0 && input !== undefined)
      this.#setUnclear("`exec` gives the shell another input");
    if (isShell(program) && input !== undefined && args.some((arg) => /^-\w*i/.test(arg)))
      this.#setUnclear("an interactive shell reads its input otherwise than a script");
    if (isShell(program) || !takesCode(argv)) return;
    const isPassing = isWrapper(program) && program !== "git";
    this.#hasUsers ||= !isPassing;
    this.#findsFiles ||= findsFiles(argv);
    for (const text of [...listCode(argv), ...(isPassing ? [] : [input ?? ""])]) this.visitCode(text);
    if (input !== undefined && !isPassing && namesShell(args)) this.visitScript(input, undefined);
    for (const file of listRunFiles(argv)) this.#run(file.path, file.args, false);
    const isUnread = (readsProgram(argv) && input !== undefined && isUnknown(input)) || runsUnknownCode(words);
    if (isUnread) this.#setUnclear(`\`${program}\` runs a text that is known only at run time`);
  }

  #visitInner(inner: NestedCommand, input: string | undefined): string | undefined {
    switch (inner.kind) {
      case "command":
        return this.#visitCommand(inner.argv, input);
      case "script":
        this.visitScript(inner.script, input);
        this.#guess(() => this.#visitSuffixes(inner.args));
        return undefined;
      case "file":
        return this.#visitFile(inner.path, input);
      case "input-script":
        return this.#visitInput(input);
      case "input-arguments": {
        if (input !== undefined && !isUnknown(input))
          return this.#visitCommand([...inner.argv, ...listWords(input)], undefined);
        if (isWrapper(inner.argv[0] ?? "") && inner.argv[0] !== "git")
          return this.#visitCommand([...inner.argv, UNKNOWN], undefined);
        if (!this.#isGuessing) this.#begin(inner.argv.map(withoutUnknown));
        return undefined;
      }
      case "suffixes":
        this.#visitSuffixes(inner.words);
        return undefined;
    }
  }

  /** A shell runs a file. */
  #visitFile(path: string, input: string | undefined): undefined {
    const normal = posix.normalize(path);
    if (/^(?:-|(?:.*\/)?stdin|\/dev\/fd\/0)$/.test(normal)) return this.#visitInput(input);
    if (isUnknown(path) || /^[<>]\(|[*?]|\$\{?[\d@*]|(?:^|\/)(?:proc|fd)\/|(?:^|\/)\d+$/.test(normal))
      this.#setUnclear(`a shell runs a file that is known only at run time: \`${withoutUnknown(path)}\``);
    this.#run(normal, [], true);
  }

  /** A shell runs what it reads. */
  #visitInput(input: string | undefined): undefined {
    if (input === undefined) this.readsScript = true;
    else this.visitScript(input, undefined);
  }

  #visitSuffixes(words: readonly string[]): void {
    if (words.length > MAX_GUESSES) this.complete = false;
    for (const at of words.slice(0, MAX_GUESSES).keys())
      this.#visitCommand(words.slice(at, at + MAX_GUESS_WORDS), undefined);
  }

  #guess(visit: () => unknown): void {
    const isGuessing = this.#isGuessing;
    this.#isGuessing = true;
    visit();
    this.#isGuessing = isGuessing;
  }

  #setUnclear(reason: string | undefined): void {
    if (!this.#isGuessing) this.unclear ??= reason;
  }

  #spend(effort: number): void {
    this.#effort += effort;
    if (this.#effort > MAX_EFFORT) this.complete = false;
  }
}

const listWords = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** Names that are not expanded: a variable whose name occurs only behind a `$` is one of the environment. */
const ASSIGNED = /(?<![$\w]|\$\{)([A-Z][A-Z0-9_]*)\b/g;

const DECLARES = /^(?:export|declare|typeset|readonly|local)$/;
