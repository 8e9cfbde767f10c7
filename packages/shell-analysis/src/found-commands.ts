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
