import type { ToolCallResult } from "../result.js";

export interface Location {
  /** Why it is not the intended environment. */
  notice: string | undefined;
  /** Whether the model could have selected another environment. */
  isOneOfSeveral: boolean;
}

/** Adds the environment of a call to its result: always for programs, for the model only if there were several. */
export function locate(
  result: ToolCallResult,
  environment: string,
  { notice, isOneOfSeveral }: Location,
): ToolCallResult {
  const lines = [
    ...(notice === undefined ? [] : [`Note: ${notice}`]),
    // For a refusal, the environment matters less.
    ...(isOneOfSeveral && !result.isError ? [`Environment: ${environment}`] : []),
  ];
  // At the beginning, because the text ends with the output of the program.
  return { ...result, environment, text: [...lines, result.text].join("\n") };
}
