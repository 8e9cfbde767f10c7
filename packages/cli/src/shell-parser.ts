import { setFlagsFromString } from "node:v8";

/**
 * For a command that evaluates a few scripts and ends: V8 would optimize the grammar of the shell parser for half a
 * second in the background, and the process could not end before. Call it before the first script is evaluated.
 */
export function compileGrammarSimply(): void {
  setFlagsFromString("--liftoff-only");
}
