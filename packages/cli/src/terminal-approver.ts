import { createInterface } from "node:readline/promises";
import { type ApprovalDecision, type ApprovalRequest, type Approver, renderAllowRule } from "@codex/orchestrator";
import { quoteWords, visible } from "./visible.js";

/** Keys, decisions and how they are offered, in the order of the question. */
const CHOICES: readonly { key: string; decision: ApprovalDecision; label: string }[] = [
  { key: "y", decision: "accept", label: "[y]es" },
  { key: "s", decision: "accept_for_session", label: "for the [s]ession" },
  { key: "a", decision: "accept_and_save", label: "[a]llow and save the rule" },
  { key: "n", decision: "decline", label: "[n]o" },
  { key: "q", decision: "cancel", label: "[q]uit" },
];

/**
 * Asks the person at the terminal; saved rules go to `rulesFile`. Undefined where there is none: what needs approval
 * is denied then.
 */
export function createTerminalApprover(rulesFile: string): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return {
    async requestApproval(request, { signal }) {
      const choices = CHOICES.filter(({ decision }) => request.availableDecisions.includes(decision));
      const question = `Run it? ${choices.map(({ label }) => label).join(", ")}: `;
      const prompt = createInterface({ input: process.stdin, output: process.stderr });
      try {
        process.stderr.write(describeRequest(request, rulesFile));
        for (;;) {
          const answer = (await prompt.question(question, { signal })).trim().toLowerCase();
          const chosen = choices.find(({ key }) => key === answer.charAt(0));
          if (chosen !== undefined) return chosen.decision;
        }
      } finally {
        prompt.close();
      }
    },
  };
}

/** What a person needs for deciding. Control characters are made visible: a command must not repaint the question. */
function describeRequest(request: ApprovalRequest, rulesFile: string): string {
  const { command, cwd, environment, reason, justification, proposedAmendment, availableDecisions } = request;
  const rule = availableDecisions.includes("accept_and_save") ? proposedAmendment : null;
  const lines = [
    "",
    `  command      ${quoteWords(command)}`,
    `  directory    ${visible(cwd)}`,
    `  environment  ${visible(environment)}`,
    `  reason       ${visible(reason)}`,
    ...(justification === null ? [] : [`  the model    ${visible(justification)}`]),
    ...(rule === null
      ? []
      : [`  rule to save ${visible(renderAllowRule(rule))}`, `  saved to     ${visible(rulesFile)}`]),
    "",
  ];
  return lines.join("\n");
}
