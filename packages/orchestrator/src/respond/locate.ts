import type { ToolCallResult } from "../result.js";

export interface Location {
  /** Why it is not where it was meant to be. */
  notice: string | undefined;
  /** The model could have named another environment. */
  isOneOfSeveral: boolean;
}

/** Says where a call was carried out: to programs always, to the model where that could have been elsewhere. */
export function locate(
  result: ToolCallResult,
  environment: string,
  { notice, isOneOfSeveral }: Location,
): ToolCallResult {
  const lines = [
    ...(notice === undefined ? [] : [`Note: ${notice}`]),
    // A refusal says what was not done; where that would have been matters less.
    ...(isOneOfSeveral && !result.isError ? [`Environment: ${environment}`] : []),
  ];
  // In front, because the text ends with the output of the program.
  return { ...result, environment, text: [...lines, result.text].join("\n") };
}
