import type { WriteStdinRequest } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { Config } from "../config.js";
import { readArguments } from "./arguments.js";
import { writeStdinArgumentsSchema } from "./model-arguments.js";
import type { Resolved } from "./resolved.js";
import { describeUnknownFields } from "./unknown-fields.js";
import { outputBudget, writeWindow } from "./windows.js";

export interface ResolvedWrite {
  /** `processId` is still the model's session id. */
  request: WriteStdinRequest;
  notices: string[];
}

/** Whether a write has an effect, rather than only waiting. */
export const doesSomething = ({
  input,
  closeStdin,
  signal,
  resize,
}: Pick<WriteStdinRequest, "input" | "closeStdin" | "signal" | "resize">): boolean =>
  input !== "" || closeStdin === true || signal !== undefined || resize !== undefined;

export function resolveWriteStdin(args: Record<string, unknown>, context: { config: Config }): Resolved<ResolvedWrite> {
  const read = readArguments(writeStdinArgumentsSchema, args);
  if (read.kind === "rejected") return read;
  const asked = read.value;
  const input = asked.chars ?? "";
  const { close_stdin: closeStdin, signal, resize } = asked;
  const acts = doesSomething({ input, closeStdin, signal, resize });
  const window = writeWindow(asked.yield_time_ms, !acts, context.config.windows);
  const budget = outputBudget(asked.max_output_tokens, context.config);
  const request: WriteStdinRequest = {
    processId: asked.session_id,
    input,
    yieldTimeMs: window.value,
    maxOutputTokens: budget.value,
    ...defined({ closeStdin: asked.close_stdin, resize: asked.resize, signal: asked.signal, until: asked.until }),
  };
  const notices = [
    ...describeUnknownFields(args, Object.keys(writeStdinArgumentsSchema.shape)),
    ...[window.notice, budget.notice].filter((notice) => notice !== undefined),
  ];
  return { kind: "ok", value: { request, notices } };
}
