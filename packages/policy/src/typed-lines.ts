import { findScriptCommands, type LiteralCommands, type ShellParser } from "@codex/shell-analysis";
import { messageOf } from "@codex/telemetry";
import type { GetShellParser } from "./analyze-command.js";
import type { AnalyzedCommand } from "./analyzed-command.js";
import { MAX_TYPED_HISTORY, MAX_TYPED_LINE } from "./limits.js";
import { applyKeys } from "./typed-keys.js";
import { expandHistory } from "./typed-recall.js";

export interface CompleteLines {
  /** Empty while none is complete. */
  readonly lines: string;
  /** Lines that were typed before. */
  readonly before: string;
  /** The beginning of the first line is not known: it was too long. */
  readonly isCut: boolean;
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
  readonly #tty: boolean;

  /** `tty`: a terminal edits lines before the shell gets them. */
  constructor(tty: boolean) {
    this.#tty = tty;
  }

  /** The lines that become complete with this input. */
  add(input: string, isEnd: boolean): CompleteLines {
    const text = this.#open + input;
    const end = isEnd ? text.length : findEnd(text, this.#tty);
    const lines = text.slice(0, end);
    const keep = () => {
      const open = text.slice(end);
      this.#isCut = open.length > MAX_TYPED_LINE || (this.#isCut && end === 0);
      this.#open = open.slice(-MAX_TYPED_LINE);
      this.#history = (this.#history + lines).slice(-MAX_TYPED_HISTORY);
    };
    return { lines, before: this.#history, isCut: this.#isCut && end > 0, keep };
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
  isCut: boolean,
  getParser: GetShellParser,
): Promise<AnalyzedCommand> {
  const command = await readLines(lines, before, getParser);
  const unclear = `a line that is typed is longer than ${MAX_TYPED_LINE} characters`;
  return isCut ? { ...command, literals: { ...command.literals, complete: false, unclear } } : command;
}

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
    guesses: [...fresh, ...together].flatMap(({ guesses = [] }) => guesses.filter(isNew)),
    complete: fresh.every(({ complete }) => complete),
    ...(unclear === undefined ? {} : { unclear }),
  };
  return { commands: [], isSplit: true, literals };
}

const keysOf = ({ commands, guesses = [] }: LiteralCommands): string[] =>
  [...commands, ...guesses].map((words) => JSON.stringify(words));
