import { asObject } from "@codex/model/json";
import type { PlanStep } from "../../events/thread-item.js";
import { MAX_PLAN_STEPS } from "../../limits.js";
import type { AgentTool, AgentToolResult } from "../agent-tool.js";

const STATUSES = ["pending", "in_progress", "completed"] as const;

/** Creates `update_plan`, which shows the model's plan to the user. */
export function createUpdatePlanTool(): AgentTool {
  return {
    spec: {
      name: "update_plan",
      description: "Shows the user what you are going to do and how far you are. Send all steps each time.",
      inputSchema: {
        type: "object",
        properties: {
          explanation: { type: "string", description: "Why the plan has changed." },
          plan: {
            type: "array",
            items: {
              type: "object",
              properties: { step: { type: "string" }, status: { type: "string", enum: STATUSES } },
              required: ["step", "status"],
              additionalProperties: false,
            },
          },
        },
        required: ["plan"],
        additionalProperties: false,
      },
    },
    async call({ plan }, context) {
      const steps = parsePlan(plan);
      if (typeof steps === "string") return failed(steps);
      const item = { kind: "plan" as const, steps };
      context.show(item);
      return { output: "Plan updated", item };
    },
  };
}

/** Returns the steps, or the problem. */
function parsePlan(plan: unknown): PlanStep[] | string {
  if (!Array.isArray(plan)) return "`plan` is missing or not a list; expected a list of `{step, status}`";
  if (plan.length > MAX_PLAN_STEPS) return `\`plan\` has ${plan.length} steps; at most ${MAX_PLAN_STEPS} are taken`;
  const steps: PlanStep[] = [];
  for (const [index, entry] of plan.entries()) {
    const { step, status } = asObject(entry) ?? {};
    const known = STATUSES.find((one) => one === status);
    if (typeof step !== "string") return `\`plan[${index}].step\` is missing or not a string`;
    if (known === undefined) {
      return `\`plan[${index}].status\` is ${JSON.stringify(status) ?? "missing"}; expected one of ${STATUSES.join(", ")}`;
    }
    steps.push({ text: step, status: known });
  }
  return steps;
}

const failed = (problem: string): AgentToolResult => ({ output: `update_plan: ${problem}.`, status: "failed" });
