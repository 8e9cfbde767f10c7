import { Validator } from "@cfworker/json-schema";

/** Validates the final message against a JSON schema; undefined when valid. The message does not quote the text. */
export function findAnswerProblem(schema: object, answer: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return "the last message is not JSON";
  }
  const { valid, errors } = new Validator(schema, "2020-12", true).validate(value);
  if (valid) return undefined;
  // The innermost error is last.
  const error = errors.at(-1);
  const place = error === undefined || error.instanceLocation === "#" ? "" : ` at ${error.instanceLocation.slice(1)}`;
  return `the last message does not fit the schema${place}: ${error?.error ?? "it does not validate"}`;
}
