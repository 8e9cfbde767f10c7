/**
 * Exit codes of the command. `codex run` ends with the code of the program it ran: its own, or 128 + n when signal n
 * ended it; 124 to 127 are used as `timeout`, `env` and shells use them.
 */
export const EXIT = {
  ok: 0,
  /** The command ran into an error of its own or of its peer. */
  failure: 1,
  /** Invalid arguments. */
  usage: 2,
  /** `codex run`: `--timeout` ended the program, whatever its own code was then. */
  timedOut: 124,
  /**
   * `codex run`: the executor could not be reached, failed or was lost before the outcome was known; or the output of a successful program
   * could not be written, or some of it is missing.
   */
  lost: 125,
  /** `codex run`: found, but could not be started; or not allowed. */
  notStarted: 126,
  /** `codex run`: the program was not found. */
  notFound: 127,
} as const;
