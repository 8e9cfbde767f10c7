import { posix } from "node:path";
import { judgeWrittenFile, listListedNames, listValues, namesShell, readsProgram } from "./code-texts.js";
import { ComputedPrograms, isEvaluated } from "./computed-programs.js";
import { listCopies, listNamedFiles, WRITERS } from "./copied-programs.js";
import { listGuessedReadings, listReadings, readOtherSyntax, translateDialect } from "./dialects.js";
import { fillCommands } from "./filled-commands.js";
import { judgeSetting } from "./git-settings.js";
import {
  EFFORT,
  MAX_EFFORT,
  MAX_FILE_COMPARISONS,
  MAX_GUESS_WORDS,
  MAX_GUESSES,
  MAX_LITERAL_COMMANDS,
  MAX_NESTING,
  MAX_ROUGH_SCRIPT,
  MAX_TEXTS,
} from "./limits.js";
import { getLiteralOutput } from "./literal-output.js";
import { classifyVariable, listAssignments, VARIABLE_BUILTINS } from "./loading-variables.js";
import { isTooLong, type NestedCommand } from "./nested-commands.js";
import type { ShellParser } from "./parser.js";
import { parseChecked } from "./parser-check.js";
import { QUIET_PROGRAMS } from "./plain-programs.js";
import { GLOB, lookupName, plainName } from "./program-name.js";
import { judgeRanFiles, listPatches, mayBeFed } from "./ran-files.js";
import { judgeReading } from "./reading-options.js";
import { readRoughCommands } from "./rough-words.js";
import { isInherited, isStandardInput, isStartFile, listVariableScripts } from "./run-variables.js";
import { type FoundCommand, type ScriptVisitor, UNRELATED } from "./script-visitor.js";
import { walkScript } from "./script-walker.js";
import { isRunningShell } from "./shells.js";
import { TextGuesses } from "./text-guesses.js";
import { listSettingFiles, listToolSettings } from "./tool-commands.js";
import {
  hasHarmlessOutput,
  isPartOf,
  isUnknown,
  listUncertain,
  toUnknown,
  UNKNOWN,
  withoutUnknown,
} from "./unknown.js";
import { addParameters, INITIAL_VARIABLES, type Variables } from "./variables.js";
import { findNestedCommands, mayTakeCode, SHELLS } from "./wrappers.js";

/** Collects every command that a command or a script may run. */
export class CommandCollector implements ScriptVisitor {
  /** By their text, so that each is listed once. */
  readonly commands = new Map<string, string[]>();
  readonly guesses = new Map<string, string[]>();
  complete = true;
  unclear: string | undefined;
  readsScript = false;
  /** Code of another program that has an input names a shell, which may read that. */
  private feedsShell = false;
  /** Outputs of commands that were visited, by variables and then by words and input: wrappers meet the same one often. */
  private readonly visited = new Map<Variables, Map<string, string | undefined>>();
  private depth = 0;
  private effort = 0;
  private isGuessing = false;
  /** Other readings of a script are being visited: what they write comes beside what the script writes. */
  private isRereading = false;
  /** What commands print or read, as far as it is known. */
  private readonly texts = new Set<string>();
  /** Files that a shell runs, and that are not known. */
  private readonly unknownFiles = new Set<string>();
  /** Commands whose program is known only at run time. */
  private readonly computed = new ComputedPrograms();
  /** What the script writes into files, by path. */
  private readonly written = new Map<string, string>();
  /** Files that are run as scripts, by normal path. */
  private readonly ran = new Set<string>();
  /** Whether a patch is applied that is not known. */
  private isPatched = false;
  private readonly textGuesses = new TextGuesses();
  /** Values with substitutions in them, each of which is searched once. */
  private readonly held = new Set<string>();
  /** What process substitutions print, by their text: scripts get them as arguments. */
  private readonly substituted = new Map<string, string>();
  /** Values of variables that name places where programs look for code and settings. */
  private readonly loads: string[] = [];

  constructor(private readonly parser: ShellParser) {}

  enter(): boolean {
    const isOver = this.commands.size + this.guesses.size >= MAX_LITERAL_COMMANDS || this.depth >= MAX_NESTING;
    if (isOver) this.complete = false;
    if (!this.complete) return false;
    this.depth += 1;
    return true;
  }

  leave(): void {
    this.depth -= 1;
  }

  visitComputed(args: readonly string[]): void {
    this.computed.add(args);
  }

  visitDeferred(value: string): void {
    if (/\$\(|`/.test(value)) this.held.add(value);
  }

  visitWritten(path: string, text: string): void {
    const earlier = this.isRereading ? (this.written.get(path) ?? "") : "";
    if (earlier === "" || !earlier.includes(text)) this.written.set(path, [earlier, text].filter(Boolean).join("\n"));
  }

  visitText(text: string): void {
    if (this.complete) this.spend(this.textGuesses.add(text));
    if (this.textGuesses.isOver) this.complete = false;
  }

  /** Programs started by the analyzed one may load files that the script has written: hooks, settings, recipes. */
  private visitFiles(): void {
    const users = [...this.commands.values()].slice(1);
    if (this.written.size * users.length > MAX_FILE_COMPARISONS) return this.giveUp();
    for (const [path, text] of this.written) {
      const { isUsed, isShell, isSettings } = judgeWrittenFile(path, text, users, this.loads);
      if (!isUsed) continue;
      this.visitText(text);
      if (isShell) this.visitScript(text, INITIAL_VARIABLES);
      if ((isShell || isSettings) && isUnknown(text))
        this.unclear ??= `what is written to \`${path}\` is known only at run time`;
    }
    for (const text of listListedNames(users)) this.visitText(text);
    const files = { all: this.ran, unknown: this.unknownFiles, texts: this.texts, isPatched: this.isPatched };
    this.unclear ??= judgeRanFiles(files, users, this.written);
  }

  visitVariable(name: string, value: string): void {
    const plain = withoutUnknown(value);
    const loading = classifyVariable(name, plain);
    if (loading === "unseen") this.setUnclear(`\`${name}\` makes programs load what \`${plain}\` names`);
    if (loading === "places") this.loads.push(plain);
    if (!/^GIT_CONFIG_KEY_\d+$/.test(name)) return;
    const { unclear, inner } = judgeSetting(plain, "x");
    if (unclear !== undefined || inner.length > 0 || isUnknown(value)) {
      this.setUnclear(unclear ?? `\`${name}\` makes \`git\` run what \`${plain}\` names`);
    }
  }

  /** Options of a program, and what it reads, in an unknown language. */
  private visitCode({ argv, input, files, variables }: FoundCommand): void {
    if (input !== undefined && isUnknown(input) && readsProgram(argv)) {
      this.setUnclear(`\`${argv[0]}\` runs a text that is known only at run time`);
    }
    const [program = "", ...args] = argv;
    this.visitSettings(argv, input, files);
    const patches = listPatches(argv, input, files);
    for (const patch of patches) this.visitText(patch);
    this.isPatched ||= patches.some(isUnknown);
    this.setUnclear(judgeReading(argv, input, variables));
    for (const text of listNamedFiles(argv)) this.visitText(text);
    if (!mayTakeCode(program, args)) return;
    this.feedsShell ||= input !== undefined && namesShell(args);
    this.spend(args.length * files.size * EFFORT.file);
    if (!this.complete) return;
    const held = args.flatMap((arg) => [...files].flatMap(([name, text]) => (arg.endsWith(name) ? [text] : [])));
    for (const text of [...listValues(argv, files), input ?? "", ...held]) this.visitText(text);
  }

  /** Settings among the arguments, and in files that these name. */
  private visitSettings(argv: readonly string[], input: string | undefined, files: FoundCommand["files"]): void {
    const [program = "", ...args] = argv;
    const name = lookupName(program);
    for (const text of listToolSettings(name, args)) this.visitText(text);
    for (const { path, isSure } of listSettingFiles(name, args)) {
      const text = isStandardInput(path) ? input : (files.get(path) ?? files.get(posix.normalize(path)));
      if (text !== undefined) this.visitText(text);
      if (isSure && path !== "" && path !== "/dev/null" && (text === undefined || isUnknown(text)))
        this.setUnclear(`\`${name}\` takes its settings from \`${path}\``);
    }
  }

  /** Adds the guesses that are possible only after everything was visited. `text`: all that is spelled out. */
  guess(text: string): void {
    for (const printed of this.texts) this.visitDeferred(printed);
    this.isGuessing = true;
    this.visitCopies();
    for (const value of this.held) this.visitScript(`: "${value.replaceAll('"', '\\"')}"`, INITIAL_VARIABLES);
    this.visitFiles();
    this.isGuessing = false;
    for (const [key, words] of this.textGuesses.commands) if (!this.commands.has(key)) this.guesses.set(key, words);
    this.visitTexts();
    for (const argv of this.computed.list([text, ...this.texts])) this.guesses.set(JSON.stringify(argv), argv);
    if (this.computed.isOver) this.complete = false;
  }

  /** A shell with an unknown input, or file, may get what is printed elsewhere: through a pipe by name, a descriptor, a copy. */
  private visitTexts(): void {
    const all = [...this.commands.values()];
    if (!this.readsScript && !this.feedsShell && !mayBeFed(this.unknownFiles, all)) return;
    this.isGuessing = true;
    for (const text of this.texts) this.visitScript(text, INITIAL_VARIABLES);
    // What a program prints from its own code is spelled out in it: `perl -e 'print "…"'`.
    for (const [, ...args] of all) {
      for (const arg of args) {
        if (/\s/.test(arg)) for (const piece of arg.split(/["'`/(){}]+/)) this.visitRough(piece, INITIAL_VARIABLES);
      }
    }
    this.isGuessing = false;
  }

  /** A shell under another name may read anything that is printed. */
  private visitCopies(): void {
    const input = [...this.texts].join("\n");
    const { copies, isOver } = listCopies([...this.commands.values()]);
    for (const argv of copies) {
      const isShell = SHELLS.has(plainName(argv[0] ?? "")) || isRunningShell(argv[0] ?? "");
      this.visitCommand({ ...UNRELATED, argv, input: isShell ? input : undefined });
    }
    if (isOver) this.complete = false;
  }

  giveUp(): void {
    this.complete = false;
  }

  spend(effort: number): void {
    this.effort += effort;
    if (this.effort > MAX_EFFORT) this.complete = false;
  }

  visitSubstituted(name: string, output: string): void {
    this.substituted.set(name, output);
  }

  visitCommand(command: FoundCommand): string | undefined {
    if (!this.complete) return undefined;
    const { argv, uncertain, input, variables, files } = command;
    const visited = this.visited.get(variables) ?? new Map<string, string | undefined>();
    this.visited.set(variables, visited);
    const words = JSON.stringify(argv);
    const key = JSON.stringify([words, [...uncertain], input, this.isGuessing]);
    this.spend(argv.length + (words.length + (input?.length ?? 0)) * EFFORT.wordCharacter);
    const found = this.isGuessing ? this.guesses : this.commands;
    if (isTooLong(argv)) {
      found.set(words, [...argv]);
      this.complete = false;
    }
    if (argv.length === 0 || visited.has(key) || !this.enter()) return visited.get(key);
    visited.set(key, undefined);
    found.set(words, [...argv]);
    if (uncertain.has(argv[0] ?? "")) this.setUnclear(`the program is known only at run time: \`${argv[0]}\``);
    let output = getLiteralOutput(argv, input, files);
    this.spend((output?.length ?? 0) * EFFORT.wordCharacter);
    if (output !== undefined && uncertain.size > 0) output = toUnknown(output);
    for (const text of [input, output]) {
      if (text !== undefined && this.texts.size < MAX_TEXTS) this.texts.add(withoutUnknown(text));
    }
    // After a wrapper, an unknown name is kept as it is written.
    if (/\$(?!['"])|`/.test(argv[0] ?? "") && !this.isGuessing) this.visitComputed(argv.slice(1));
    if (GLOB.test(argv[0] ?? "")) this.setUnclear(`which program \`${argv[0]}\` matches is known only at run time`);
    if (isEvaluated(argv)) for (const arg of argv) this.visitDeferred(arg);
    if (!this.isGuessing) this.visitCode(command);
    const copied = argv.flatMap((arg) => files.get(arg) ?? []).join("") || input;
    if (copied !== undefined && WRITERS.has(argv[0] ?? ""))
      for (const path of argv.slice(1)) this.visitWritten(path, copied);
    const runs = findNestedCommands(argv);
    const printed = [...runs.inner, ...this.listScripts(command)].map((inner) => this.visitInner(inner, command) ?? "");
    // `xargs echo` runs `echo` with and without what it reads.
    output ??= printed.reduce((most, text) => (text.length > most.length ? text : most), "") || undefined;
    if (output === undefined && !hasHarmlessOutput(argv)) output = UNKNOWN;
    if (!this.isGuessing) {
      this.setUnclear(runs.unclear);
      this.isGuessing = true;
      for (const inner of runs.guesses) this.visitInner(inner, command);
      this.isGuessing = false;
    }
    visited.set(key, output);
    this.leave();
    return output;
  }

  private setUnclear(reason: string | undefined): void {
    if (!this.isGuessing) this.unclear ??= reason;
  }

  visitScript(text: string, variables: Variables, input?: string): string | undefined {
    if (isUnknown(text)) this.setUnclear("a shell runs a text that is known only at run time");
    const script = withoutUnknown(text).replaceAll("\0", "");
    if (!/\S/.test(script) || !this.enter()) return undefined;
    this.spend(EFFORT.script + script.length * EFFORT.character + variables.size * EFFORT.variable);
    const tree = this.complete ? parseChecked(this.parser, script) : undefined;
    const output = tree && walkScript(tree, input, variables, this);
    if (tree === undefined || tree.hasError) this.visitRough(script.slice(0, MAX_ROUGH_SCRIPT), variables);
    if (tree === undefined) this.complete = false;
    const { isRereading } = this;
    this.isRereading = true;
    for (const reading of listReadings(script)) this.visitScript(reading, variables, input);
    for (const reading of listGuessedReadings(script, tree?.hasError !== false)) this.guessScript(reading);
    this.isRereading = isRereading;
    const { texts, deferred, unclear } = readOtherSyntax(script, tree?.hasError !== false);
    for (const code of texts) this.visitText(code);
    for (const value of deferred) this.visitDeferred(value);
    this.setUnclear(unclear);
    const translated = translateDialect(script);
    if (translated !== script) this.visitScript(translated, variables, input);
    this.leave();
    return output;
  }

  /** Variables that are run, wherever they are set, and a file that this very script has written. */
  private listScripts({ argv, files }: FoundCommand): NestedCommand[] {
    const [program = "", ...args] = argv;
    const name = plainName(program);
    const setsVariables = VARIABLE_BUILTINS.test(name) || !(QUIET_PROGRAMS.has(name) || SHELLS.has(name));
    const scripts = args.flatMap(listAssignments).flatMap(([name, value]) => {
      if (setsVariables && !this.isGuessing) this.visitVariable(name, value);
      if (setsVariables && !VARIABLE_BUILTINS.test(program) && !this.isGuessing) this.visitText(value);
      if (isStartFile(name)) this.visitStartFile(value);
      const file = isStartFile(name) ? (files.get(value) ?? files.get(posix.normalize(value))) : undefined;
      return [...listVariableScripts(name, value), ...(file === undefined ? [] : [file])];
    });
    const own: NestedCommand[] =
      program.includes("/") && files.has(posix.normalize(program)) ? [{ kind: "file", path: program }] : [];
    return [...scripts.map((script): NestedCommand => ({ kind: "script", script, args: [] })), ...own];
  }

  private guessScript(text: string): void {
    const { isGuessing } = this;
    this.isGuessing = true;
    this.visitScript(text, INITIAL_VARIABLES);
    this.isGuessing = isGuessing;
  }

  visitStartFile(path: string): void {
    if (isInherited(path)) this.setUnclear(`a shell reads \`${path}\` at its start`);
  }

  private visitInner(inner: NestedCommand, command: FoundCommand): string | undefined {
    const { input, variables, files } = command;
    switch (inner.kind) {
      case "command":
        if (command.uncertain.size > 0) this.spend(command.argv.length * EFFORT.file);
        return this.visitCommand({ ...command, argv: inner.argv, uncertain: listUncertain(inner.argv, command) });
      case "script":
        if ([...command.uncertain].some((word) => isPartOf(word, inner.script))) {
          this.setUnclear("a part of a script in it is known only at run time");
        }
        this.spend(inner.args.length * EFFORT.variable);
        for (const arg of inner.args) this.visitDeferred(arg);
        return this.complete ? this.visitScript(inner.script, addParameters(variables, inner.args), input) : undefined;
      case "file": {
        this.ran.add(posix.normalize(inner.path));
        const isInput = isStandardInput(inner.path);
        const script = isInput
          ? input
          : (files.get(inner.path) ?? files.get(posix.normalize(inner.path)) ?? this.substituted.get(inner.path));
        if (script === undefined && isInput) this.readsScript = true;
        if (script === undefined) this.unknownFiles.add(inner.path);
        return script === undefined ? undefined : this.visitScript(script, variables);
      }
      case "input-script":
        if (input === undefined) this.readsScript = true;
        return input === undefined ? undefined : this.visitScript(input, variables);
      case "input-arguments": {
        const held = command.argv.flatMap((arg) => files.get(arg) ?? files.get(arg.slice(arg.indexOf("=") + 1)) ?? []);
        const read = held.length === 0 ? input : held.join("");
        return read === undefined ? undefined : this.visitArguments(inner, read, command);
      }
      case "suffixes":
        if (inner.words.length > MAX_GUESSES) this.giveUp();
        for (const at of inner.words.slice(0, MAX_GUESSES).keys()) {
          this.visitCommand({ ...command, argv: inner.words.slice(at, at + MAX_GUESS_WORDS) });
        }
        return undefined;
    }
  }

  private visitArguments(
    inner: Extract<NestedCommand, { kind: "input-arguments" }>,
    input: string,
    command: FoundCommand,
  ): string | undefined {
    const outputs: (string | undefined)[] = [];
    for (const filled of fillCommands(inner, input)) {
      if (filled === undefined) this.giveUp();
      if (filled === undefined || !this.complete) break;
      const uncertain = new Set([...command.uncertain, ...filled.uncertain]);
      outputs.push(this.visitCommand({ ...command, argv: filled.argv, uncertain }));
    }
    return outputs[0];
  }

  private visitRough(script: string, variables: Variables): void {
    for (const argv of readRoughCommands(script)) {
      if (argv.includes(UNKNOWN)) this.setUnclear("a list in braces has too many words");
      this.visitCommand({ ...UNRELATED, argv, variables });
    }
  }
}
