import { defined } from "@codex/values";
import type { ReasoningOptions } from "./model-port.js";

/** Applies the model's defaults. Known models get a summary only if configured; `none` disables it. */
export function chooseReasoning(
  configured: ReasoningOptions = {},
  traits: { known: boolean; effort?: string },
): ReasoningOptions {
  const effort = configured.effort ?? traits.effort;
  const asked = configured.summary ?? (traits.known ? undefined : "auto");
  const summary = asked === "none" ? undefined : asked;
  return defined({ effort, summary });
}
