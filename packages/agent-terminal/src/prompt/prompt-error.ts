/** The prompt is missing or invalid. `usage`: invalid arguments. The message names the argument or file. */
export class PromptError extends Error {
  override readonly name = "PromptError";
  constructor(
    readonly code: "no_prompt" | "bad_input" | "usage",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
