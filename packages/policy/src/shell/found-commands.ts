/** Commands that are spelled out somewhere in a command, itself first. */
export interface LiteralCommands {
  /** A part of a word that is not known stands in it as it is written. */
  readonly commands: string[][];
  /** What may be commands as well: arguments of programs that are not known. Absent when there is none. */
  readonly guesses?: string[][];
  /** False when a bound was hit, or a program or option is not known: there may be more than was found. */
  readonly complete: boolean;
  /** Why there may be more; absent when a bound is the reason. */
  readonly unclear?: string;
  /** A shell in it reads what is written to the command later. Absent where none is found. */
  readonly readsScript?: true;
}
