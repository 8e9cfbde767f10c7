import { type CastSink, createCastFile } from "@codex/recording";
import { messageOf } from "@codex/values";
import { CommandError, EXIT } from "./exit-codes.js";

/** @throws CommandError naming the file */
export function openCastFile(path: string, onProblem: (problem: string) => void): CastSink {
  try {
    return createCastFile(path, onProblem);
  } catch (cause) {
    throw new CommandError(messageOf(cause), EXIT.usage, { cause });
  }
}
