import type { ReasoningOptions } from "./model-port.js";

/** Its own effort for a known model, and a summary only where one is configured; `none`: no summary. */
export function chooseReasoning(
  configured: ReasoningOptions = {},
  traits: { known: boolean; effort?: string },
): ReasoningOptions {
  const effort = configured.effort ?? traits.effort;
  const asked = configured.summary ?? (traits.known ? undefined : "auto");
  const summary = asked === "none" ? undefined : asked;
  return { ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) };
}
