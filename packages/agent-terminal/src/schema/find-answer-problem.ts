import { Validator } from "@cfworker/json-schema";

/** What is wrong with an answer that had to fit a JSON schema; undefined when it fits. The answer itself is not repeated. */
export function findAnswerProblem(schema: object, answer: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return "the last message is no JSON";
  }
  const { valid, errors } = new Validator(schema, "2020-12", true).validate(value);
  if (valid) return undefined;
  // The innermost comes last.
  const error = errors.at(-1);
  const place = error === undefined || error.instanceLocation === "#" ? "" : ` at ${error.instanceLocation.slice(1)}`;
  return `the last message does not fit the schema${place}: ${error?.error ?? "it does not validate"}`;
}
