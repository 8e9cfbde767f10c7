import { createInterface, type Interface } from "node:readline/promises";
import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  findRuleProblem,
  renderAllowRule,
} from "@codex/orchestrator";
import { describeRequest } from "./describe-approval.js";
import { splitWords } from "./split-words.js";
import { quoteWords, visible } from "./visible.js";

/** Keys, decisions and how they are offered, in the order of the question. */
const CHOICES: readonly { key: string; decision: ApprovalDecision; label: string }[] = [
  { key: "y", decision: "accept", label: "[y]es" },
  { key: "s", decision: "accept_for_session", label: "for the [s]ession" },
  { key: "a", decision: "accept_and_save", label: "[a]llow and save the rule" },
  { key: "e", decision: "accept_and_save", label: "[e]dit the rule" },
  { key: "n", decision: "decline", label: "[n]o" },
  { key: "q", decision: "cancel", label: "[q]uit" },
];

/**
 * Asks the person at the terminal; saved rules go to `rulesFile`. Where there is no terminal, what needs approval is
 * denied, and the reason says how it could be allowed.
 */
export function createTerminalApprover(rulesFile: string): Approver {
  return {
    async requestApproval(request, { signal }) {
      if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Error(describeNoTerminal(request, rulesFile));
      const prompt = createInterface({ input: process.stdin, output: process.stderr });
      try {
        process.stderr.write(describeRequest(request, rulesFile, bold));
        return await askUntilDecided(request, (question, prefill = "") => ask(prompt, question, prefill, signal));
      } finally {
        prompt.close();
      }
    },
  };
}

type Ask = (question: string, prefill?: string) => Promise<string>;

async function ask(prompt: Interface, question: string, prefill: string, signal: AbortSignal): Promise<string> {
  const answer = prompt.question(question, { signal });
  if (prefill !== "") prompt.write(prefill);
  return (await answer).trim();
}

async function askUntilDecided(request: ApprovalRequest, ask: Ask): Promise<ApprovalAnswer> {
  const choices = CHOICES.filter(({ decision }) => request.availableDecisions.includes(decision));
  const question = `Run it? ${choices.map(({ label }) => label).join(", ")}: `;
  for (;;) {
    const answer = (await ask(question)).toLowerCase();
    const chosen = choices.find(({ key }) => key === answer.charAt(0));
    if (chosen === undefined) continue;
    if (chosen.key !== "e") return chosen.decision;
    const rule = await editRule(request, ask);
    if (rule !== undefined) return { decision: "accept_and_save", rule };
  }
}

/** The rule as the person wants it, seen once more before it counts; undefined for going back. */
async function editRule(
  { proposedAmendment, plainCommands }: ApprovalRequest,
  ask: Ask,
): Promise<string[] | undefined> {
  let text = quoteWords(proposedAmendment ?? []);
  for (;;) {
    text = await ask("Allow commands that begin with (nothing goes back): ", text);
    if (text === "") return undefined;
    const rule = splitWords(text);
    const problem = rule === undefined ? "a quote is not closed" : findRuleProblem(rule, plainCommands);
    if (rule === undefined || problem !== undefined) {
      process.stderr.write(`  that rule cannot be saved: ${visible(problem ?? "")}\n`);
      continue;
    }
    process.stderr.write(`  rule to save ${visible(renderAllowRule(rule))}\n`);
    const answer = (await ask("Run it and save this rule? [y]es, [e]dit, [b]ack: ")).toLowerCase();
    if (answer.startsWith("y")) return rule;
    if (!answer.startsWith("e")) return undefined;
  }
}

function describeNoTerminal({ proposedAmendment }: ApprovalRequest, rulesFile: string): string {
  const rule = proposedAmendment === null ? "a rule" : `the rule ${visible(renderAllowRule(proposedAmendment))}`;
  return `there is no terminal to ask at; run it at one, or allow it by ${rule} in ${rulesFile}`;
}

/** Only where the terminal can, and its user has not asked for plain text. */
const bold = (text: string): string => (process.stderr.hasColors() ? `\u001b[1m${text}\u001b[22m` : text);
