import type { Usage } from "@codex/model";
import { asCount, type JsonObject } from "@codex/model/json";

/** Zero tokens. */
export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  totalTokens: 0,
};

/** Adds two usages. */
export const addUsage = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
  cacheWriteInputTokens: one.cacheWriteInputTokens + other.cacheWriteInputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  reasoningOutputTokens: one.reasoningOutputTokens + other.reasoningOutputTokens,
  totalTokens: one.totalTokens + other.totalTokens,
});

/** Reads the counts of a JSON object; missing and invalid ones are 0. @param nameOf maps to the names in the object */
export function readUsage(usage: JsonObject, nameOf: (name: keyof Usage) => string = (name) => name): Usage {
  const count = (name: keyof Usage) => asCount(usage[nameOf(name)]) ?? 0;
  return {
    inputTokens: count("inputTokens"),
    cachedInputTokens: count("cachedInputTokens"),
    cacheWriteInputTokens: count("cacheWriteInputTokens"),
    outputTokens: count("outputTokens"),
    reasoningOutputTokens: count("reasoningOutputTokens"),
    totalTokens: count("totalTokens"),
  };
}
