import { AgentSettingsError, DEFAULT_MODEL, readAgentSettings } from "@codex/agent-terminal";
import { expect, it } from "vitest";

it("has defaults for everything", () => {
  expect(readAgentSettings({})).toEqual({
    model: DEFAULT_MODEL,
    reasoning: {},
    projectDocFallbackFilenames: [],
    updatePlan: false,
  });
});

it("reads the keys of Codex, and passes over others", () => {
  const table = {
    model: "m",
    model_reasoning_effort: "high",
    model_context_window: 1000,
    tools: { update_plan: { enabled: true }, view_image: true },
    web_search: "disabled",
    tui: {},
  };
  const settings = readAgentSettings(table);
  expect(settings).toMatchObject({ model: "m", reasoning: { effort: "high" }, contextWindow: 1000, updatePlan: true });
  expect(settings.webSearch).toBeUndefined();
  expect(readAgentSettings(table, "given").model).toBe("given");
});

it.each([
  ["model", { model: 1 }],
  ["model_context_window", { model_context_window: -1 }],
  ["tools.update_plan.enabled", { tools: { update_plan: { enabled: "yes" } } }],
])("names %s when it does not fit", (key, table) => {
  expect(() => readAgentSettings(table)).toThrow(AgentSettingsError);
  expect(() => readAgentSettings(table)).toThrow(key);
});
