import { createMessage, type Item, type ModelPort, type ModelRequest, textOf } from "@codex/agent";
import type { ApprovalRequest, Approver, DetailedAnswer } from "@codex/orchestrator";
import { cutEnd } from "@codex/values";
import { MAX_REVIEWED_CHARS, MAX_REVIEWED_ITEM_CHARS, REVIEW_ATTEMPTS } from "../limits.js";
import { APPROVAL_INSTRUCTIONS } from "./approval-instructions.js";

/** Options of {@link createModelApprover}. */
export interface ModelApproverOptions {
  readonly model: ModelPort;
  /** Model id that the endpoint expects. */
  readonly modelName: string;
  /** Returns the history of the call. */
  readonly getHistory: () => readonly Item[];
  readonly newId: () => string;
}

const SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: { outcome: { type: "string", enum: ["allow", "deny"] }, rationale: { type: "string" } },
  required: ["outcome", "rationale"],
};

/**
 * Creates an approver that asks a model about each request separately. Only a valid decision allows; otherwise it rejects, so
 * that nothing runs. The model receives the conversation as data, and has no tools.
 */
export function createModelApprover(options: ModelApproverOptions): Approver {
  return {
    async requestApproval(request, { signal }) {
      let problem: unknown;
      for (let attempt = 1; attempt <= REVIEW_ATTEMPTS; attempt += 1) {
        signal.throwIfAborted();
        try {
          const decision = parseDecision(await ask(options, request, signal));
          if (decision !== undefined) return decision;
          problem = new Error("the model gave no decision");
        } catch (error) {
          problem = error;
        }
      }
      throw problem;
    },
  };
}

async function ask(options: ModelApproverOptions, request: ApprovalRequest, signal: AbortSignal): Promise<string> {
  const { model, modelName, getHistory, newId } = options;
  const id = newId();
  const asked: ModelRequest = {
    model: modelName,
    input: [
      createMessage("developer", APPROVAL_INSTRUCTIONS),
      createMessage("user", `The conversation, as JSON:\n${JSON.stringify(excerpt(getHistory()))}`),
      createMessage("user", `The request to decide about, as JSON:\n${JSON.stringify(describe(request))}`),
    ],
    tools: [],
    parallelToolCalls: false,
    text: { format: { type: "json_schema", strict: true, name: "approval_decision", schema: SCHEMA } },
    promptCacheKey: id,
    threadId: id,
    turnId: id,
  };
  let answer = "";
  for await (const event of model.stream(asked, { signal })) {
    if (event.type === "item_done" && event.item.type === "message") answer = textOf(event.item);
  }
  return answer;
}

/** The latest items with role or type, without images, long texts truncated. */
function excerpt(history: readonly Item[]): { from: string; text: string }[] {
  let left = MAX_REVIEWED_CHARS;
  const kept: { from: string; text: string }[] = [];
  for (const item of history.toReversed()) {
    const text = cutEnd(textOfItem(item), MAX_REVIEWED_ITEM_CHARS);
    left -= text.length;
    if (left < 0) break;
    const from = typeof item.role === "string" ? item.role : item.type;
    if (text !== "" && from !== "developer") kept.unshift({ from, text });
  }
  return kept;
}

function textOfItem(item: Item): string {
  if (item.type === "message") return textOf(item);
  const { name, arguments: args, input, output } = item;
  const parts = [name, args, input, output].filter((part) => typeof part === "string");
  return parts.join(" ");
}

const describe = (request: ApprovalRequest) => {
  const { toolName, environment, command, cwd, reason, justification, sandboxPermissions } = request;
  const { additionalPermissions, afterDenial } = request;
  return {
    tool: toolName,
    environment,
    command,
    cwd,
    why_it_is_asked: reason,
    justification_of_the_agent: justification,
    sandbox_permissions: sandboxPermissions,
    additional_permissions: additionalPermissions,
    after_denial: afterDenial,
  };
};

/** Parses a decision; undefined when invalid. */
function parseDecision(text: string): DetailedAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null || !("outcome" in answer)) return undefined;
    if (answer.outcome === "allow") return { decision: "accept", by: "model" };
    return answer.outcome === "deny" ? { decision: "decline", by: "model" } : undefined;
  } catch {
    return undefined;
  }
}
