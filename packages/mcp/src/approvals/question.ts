import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalRequest,
  proposedRule,
  ruleToSave,
} from "@codex/orchestrator";
import { renderAllowRule } from "@codex/policy";
import { quoteWords, visibleLine } from "@codex/policy/display";
import { cutEnd, cutStart } from "@codex/values";
import { type InputResponses, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { QUESTION_COMMAND_LENGTH } from "../limits.js";

/** The key of a question among the input requests of a result. */
export const DECISION = "decision";

/** The question as a request to the client. */
export const toElicitation = (request: ApprovalRequest) =>
  inputRequired.elicit({ message: describeQuestion(request), requestedSchema: describeChoices(request) });

/** The decision among the responses of a client: anything but an offered choice is a decline. */
export function readDecision(
  responses: Record<string, unknown> | undefined,
  key: string,
  { availableDecisions }: ApprovalRequest,
): ApprovalAnswer {
  // The SDK checks the kind of a response when it is read.
  const response = inputResponse(responses as InputResponses | undefined, key);
  const content = response.kind === "elicit" && response.action === "accept" ? response.content : undefined;
  const decision = availableDecisions.find((one) => one === content?.[DECISION]) ?? "decline";
  return { decision, by: "client" };
}

/** The question as lines for the user. Characters that would be invisible or move the cursor are escaped. */
function describeQuestion(request: ApprovalRequest): string {
  const { command, cwd, environment, reason, justification, sandbox, afterDenial } = request;
  const rule = proposedRule(request);
  const lines = [
    request.cause.kind === "host" ? `Let this command reach ${request.cause.host}?` : "Run this command?",
    `command: ${cutMiddle(quoteWords(command))}`,
    `directory: ${cwd}`,
    `environment: ${environment}`,
    `sandbox: ${sandbox === null ? "none" : sandbox.permissions.type}`,
    ...(afterDenial === null ? [] : [`already ran: in its sandbox, in part (${afterDenial.reason})`]),
    `reason: ${reason}`,
    ...(justification === null ? [] : [`the model: ${justification}`]),
    ...(rule === undefined ? [] : [`rule to save: ${renderAllowRule(rule)}`]),
  ];
  return lines.map(visibleLine).join("\n");
}

/** The schema of the answer: one choice. */
const describeChoices = ({ availableDecisions }: ApprovalRequest) => ({
  type: "object" as const,
  properties: {
    [DECISION]: {
      type: "string" as const,
      title: "Decision",
      oneOf: availableDecisions.map((decision) => ({ const: decision, title: TITLES[decision] })),
    },
  },
  required: [DECISION],
});

const TITLES: Record<ApprovalDecision, string> = {
  accept: "Accept once",
  accept_for_session: "Accept for this session",
  accept_and_save: "Accept, and save the rule",
  decline: "Decline",
  cancel: "Decline, and end the turn",
};

/** Why a command is not run if the client cannot ask its user, with the rule that would allow it. */
export function describeUnasked(request: ApprovalRequest): string {
  const { proposedAmendment: words } = request;
  const rule = words === null ? "" : `; this rule would allow it: ${renderAllowRule(ruleToSave(request, words))}`;
  return `this MCP client cannot ask its user (it has no elicitation)${rule}`;
}

/** Keeps both ends: a long middle must not hide how a command begins or ends. */
function cutMiddle(text: string): string {
  if (text.length <= QUESTION_COMMAND_LENGTH) return text;
  const half = QUESTION_COMMAND_LENGTH / 2;
  return `${cutEnd(text, half)} […${text.length - QUESTION_COMMAND_LENGTH} characters left out…] ${cutStart(text, half)}`;
}
