import { EXIT } from "@codex/foreground";

export { EXIT };

/** An error for the person at the shell: the message alone is shown, and the command ends with `exitCode`. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failure,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
