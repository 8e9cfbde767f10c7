/** Exit codes of a server: an error of its own or of its peer, and invalid arguments. */
export const SERVER_EXIT = { failure: 1, usage: 2 } as const;

/** An error for the user of the command: only the message is shown, and the command exits with `exitCode`. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  constructor(
    message: string,
    readonly exitCode: number = SERVER_EXIT.failure,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
