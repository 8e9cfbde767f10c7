import { setFlagsFromString } from "node:v8";
import { createLazyShellParser, type GetShellParser, loadShellParser } from "@codex/policy";

/**
 * The parser of scripts for a command that judges a few of them and ends. Optimizing the grammar takes half a second
 * in the background, for which the end of the process would wait; so it is compiled simply.
 */
export function createBriefShellParser(): GetShellParser {
  return createLazyShellParser(() => {
    setFlagsFromString("--liftoff-only");
    return loadShellParser();
  });
}
