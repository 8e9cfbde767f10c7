import { findScriptCommands, type LiteralCommands, type ShellParser } from "@codex/shell-analysis";
import { defined, messageOf } from "@codex/values";
import type { GetShellParser } from "./analyze-command.js";
import type { AnalyzedCommand } from "./analyzed-command.js";
import { MAX_TYPED_HISTORY, MAX_TYPED_LINE } from "./limits.js";
import { applyKeys, findUnfollowedKey } from "./typed-keys.js";
import { expandHistory } from "./typed-recall.js";

export interface CompleteLines {
  /** What is to be judged; empty while no line is complete and the effect of every key is known. */
  readonly lines: string;
  /** Why it is not known what the shell gets; undefined when it is. */
  readonly unclear: string | undefined;
  /** Lines that were typed before. */
  readonly before: string;
  /** To be called when the input was written, and not if it was refused. */
  readonly keep: () => void;
}

/** Input typed into a shell that was started to receive it: a line counts when it is complete. */
export class TypedLines {
  /** The beginning of a line that is not complete yet. */
  #open = "";
  /** Its first part is forgotten. */
  #isCut = false;
  /** Lines that were typed before, as far as they are remembered: they may set what a later one uses. */
  #history = "";
  /** Something typed may have changed what keys do. */
  #isRebound = false;
  readonly #tty: boolean;

  /** `tty`: a terminal edits lines before the shell gets them. */
  constructor(tty: boolean) {
    this.#tty = tty;
  }

  /** To be called when a line that may change what keys do was written: from then on each line is unclear. */
  distrustKeys(): void {
    this.#isRebound = this.#tty;
  }

  /** The lines that become complete with this input. A key that is not followed is judged at once: it may run the line. */
  add(input: string, isEnd: boolean): CompleteLines {
    const text = this.#open + input;
    const end = isEnd ? text.length : findEnd(text, this.#tty);
    const isCut = this.#isCut && end > 0;
    const key = this.#findKey(text.slice(0, end), text);
    const isPressed = key !== undefined && end === 0;
    const lines = isPressed ? text : text.slice(0, end);
    const keep = () => {
      const open = text.slice(end);
      this.#isCut = open.length > MAX_TYPED_LINE || (this.#isCut && end === 0);
      this.#open = open.slice(-MAX_TYPED_LINE);
      this.#history = (this.#history + text.slice(0, end)).slice(-MAX_TYPED_HISTORY);
    };
    const unclear = isCut
      ? `a line that is typed is longer than ${MAX_TYPED_LINE} characters`
      : key !== undefined
        ? `what the key ${showKey(key)} does is not followed`
        : this.#isRebound && end > 0
          ? "what keys do was changed by a line before"
          : undefined;
    return { lines, unclear, before: this.#history, keep };
  }

  /** One in the complete lines, or one that is new. */
  #findKey(complete: string, text: string): string | undefined {
    return this.#tty ? (findUnfollowedKey(complete) ?? findUnfollowedKey(text, this.#open.length)) : undefined;
  }

  /**
   * The text as the shell may receive it: as typed, as its keys edit and recall lines, and with history expanded; `before`
   * was typed earlier. Undefined where its keys do more than is followed.
   */
  read(text: string, before = ""): string[] | undefined {
    const plain = this.#tty ? dropKeys(text) : text;
    const readings = [plain];
    if (this.#tty) {
      for (const deletes of text.includes("\x04") || before.includes("\x04") ? [false, true] : [false]) {
        for (const typed of new Set([text, text.replace(REPORTS, "")])) {
          const edited = applyKeys(typed, before, deletes);
          if (edited === undefined) return undefined;
          readings.push(edited);
        }
      }
    }
    const earlier = this.#tty ? dropKeys(before) : before;
    const expanded = readings.map((one) => expandHistory(one, earlier));
    const known = expanded.filter((one) => one !== undefined);
    return known.length < expanded.length ? undefined : [...new Set([...readings, ...known])];
  }
}

/** A key as people write it: `^X`, `M-x`. */
const showKey = (key: string): string =>
  key
    .replace(/^\x1b(?=.)/s, "M-")
    .replace(/[\x00-\x1f\x7f]/g, (one) => (one === "\x7f" ? "^?" : `^${String.fromCharCode(one.charCodeAt(0) + 64)}`));

/** The text with no key applied. */
const dropKeys = (text: string): string =>
  text.replace(ESCAPE_SEQUENCES, "").replace(LINE_ENDS, "\n").replace(CONTROLS, "");

/** How a terminal's keys end a line: return, new line, end of input, and what readline runs a line with. */
const LINE_ENDS = /[\r\n\x04\x0f]/g;

/** Cursor keys, the marks of a paste, and the like. */
const ESCAPE_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])/g;

/** What a terminal reports: fish takes it for no text, readline for text behind an unknown key. */
const REPORTS = /\x1b\][^\x07\x1b]*\x07/g;

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** The index after the last end of a line. */
function findEnd(text: string, tty: boolean): number {
  const ends = tty ? [...text.matchAll(LINE_ENDS)] : [...text.matchAll(/\n/g)];
  return (ends.at(-1)?.index ?? -1) + 1;
}

/**
 * Analyzes typed lines: nothing in them is allowed by itself, what is spelled out in them restricts. A command that
 * was found in lines before counts only where it is typed again. Never rejects.
 */
export async function analyzeTypedLines(
  lines: readonly string[],
  before: readonly string[],
  unclear: string | undefined,
  getParser: GetShellParser,
): Promise<AnalyzedCommand> {
  const command = await readLines(lines, before, getParser);
  const problem =
    unclear ?? (changesKeys(command) ? "it may change what keys do, or the lines they recall" : undefined);
  if (problem === undefined) return command;
  return { ...command, literals: { ...command.literals, complete: false, unclear: problem } };
}

/** Whether a line may change what later keys do in the shell, or the history that they recall. */
export const changesKeys = ({ literals }: AnalyzedCommand): boolean =>
  [...literals.commands, ...(literals.guesses ?? [])].some(
    ([program = "", ...args]) =>
      /^(?:bind|bindkey|zle|fc|vared|stty)$/.test(program) ||
      (program === "history" && args.some((arg) => /^-[a-z]*[srnap]/.test(arg))) ||
      (program === "set" && args.some((arg) => /^(?:vi|emacs)$|hist/.test(arg))),
  );

async function readLines(
  lines: readonly string[],
  before: readonly string[],
  getParser: GetShellParser,
): Promise<AnalyzedCommand> {
  try {
    return judge(lines, before, await getParser());
  } catch (error) {
    const parseProblem = `what is typed cannot be parsed: ${messageOf(error)}`;
    return { ...judge(lines, before, { parse: () => undefined }), parseProblem };
  }
}

function judge(lines: readonly string[], before: readonly string[], parser: ShellParser): AnalyzedCommand {
  const fresh = lines.map((text) => findScriptCommands(parser, text));
  const seen = new Set(before.flatMap((text) => keysOf(findScriptCommands(parser, text))));
  const together = lines.map((text, index) => findScriptCommands(parser, (before[index] ?? before[0] ?? "") + text));
  const isNew = (words: readonly string[]) => !seen.has(JSON.stringify(words));
  const unclear = fresh.map((found) => found.unclear).find((reason) => reason !== undefined);
  const literals: LiteralCommands = {
    commands: [
      ...fresh.flatMap(({ commands }) => commands),
      ...together.flatMap(({ commands }) => commands.filter(isNew)),
    ],
    beginnings: [...fresh, ...together].flatMap(({ beginnings = [] }) => beginnings.filter(isNew)),
    guesses: [...fresh, ...together].flatMap(({ guesses = [] }) => guesses.filter(isNew)),
    complete: fresh.every(({ complete }) => complete),
    ...defined({ unclear }),
  };
  return { commands: [], isSplit: true, literals };
}

const keysOf = ({ commands, beginnings = [], guesses = [] }: LiteralCommands): string[] =>
  [...commands, ...beginnings, ...guesses].map((words) => JSON.stringify(words));
