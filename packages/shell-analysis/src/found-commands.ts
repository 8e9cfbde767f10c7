/** Commands that are spelled out somewhere in a command, itself first. */
export interface LiteralCommands {
  /** Unknown parts of words are kept as they are written. */
  readonly commands: string[][];
  /** What may be commands as well: arguments of unknown programs. Absent if there are none. */
  readonly guesses?: string[][];
  /** False when a bound was hit, or a program or option is not known: there may be more than was found. */
  readonly complete: boolean;
  /** Why there may be more; absent when a bound is the reason. */
  readonly unclear?: string;
  /** A shell in it reads the command's later input. Absent if none does. */
  readonly readsScript?: true;
}

/** What a search has found so far; commands and guesses by their text. */
export interface FoundSoFar {
  readonly commands: ReadonlyMap<string, string[]>;
  readonly guesses: ReadonlyMap<string, string[]>;
  readonly complete: boolean;
  readonly unclear: string | undefined;
  readonly readsScript: boolean;
}

/** Each command once; a guess that is a command is left out. */
export function listFound(collector: FoundSoFar): LiteralCommands {
  const { commands, unclear } = collector;
  const guesses = [...collector.guesses].flatMap(([key, words]) => (commands.has(key) ? [] : [words]));
  return {
    commands: [...commands.values()],
    ...(guesses.length === 0 ? {} : { guesses }),
    complete: collector.complete && unclear === undefined,
    ...(unclear === undefined || !collector.complete ? {} : { unclear }),
    ...(collector.readsScript ? { readsScript: true as const } : {}),
  };
}
