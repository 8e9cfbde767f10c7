import { createInterface } from "node:readline/promises";
import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  findRuleProblem,
  ruleToSave,
} from "@codex/orchestrator";
import { fileOfRule, renderAllowRule } from "@codex/policy";
import { quoteWords, visible } from "@codex/policy/display";
import { splitWords } from "../text/split-words.js";
import { describeRequest } from "./describe-approval.js";

/** Accepted answers with decision and label, in display order. Only exact answers match: `stop` is not `s`. */
const CHOICES: readonly { answers: readonly string[]; decision: ApprovalDecision; label: string }[] = [
  { answers: ["y", "yes"], decision: "accept", label: "[y]es" },
  { answers: ["s", "session"], decision: "accept_for_session", label: "for the [s]ession" },
  { answers: ["a", "allow"], decision: "accept_and_save", label: "[a]llow and save the rule" },
  { answers: ["e", "edit"], decision: "accept_and_save", label: "[e]dit the rule" },
  { answers: ["n", "no"], decision: "decline", label: "[n]o" },
  { answers: ["q", "quit"], decision: "cancel", label: "[q]uit" },
];

/** Terminal of the user. */
export interface ApproverTerminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number; hasColors?: () => boolean };
}

/**
 * Creates an approver that prompts at the terminal; saved rules go to `rulesFile`. Without a terminal requests are denied,
 * with a reason that explains how to allow them.
 */
export function createTerminalApprover(
  rulesFile: string,
  terminal: ApproverTerminal = { input: process.stdin, output: process.stderr },
): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    requestApproval(request, { signal }) {
      // One at a time, so that input belongs to the visible prompt.
      const turn = last.then(() => askAtTerminal(request, rulesFile, terminal, signal));
      last = turn.catch(() => {});
      return turn;
    },
  };
}

async function askAtTerminal(
  request: ApprovalRequest,
  rulesFile: string,
  { input, output }: ApproverTerminal,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  signal.throwIfAborted();
  if (!input.isTTY || !output.isTTY) throw new Error(describeNoTerminal(request, rulesFile));
  // Only if the terminal supports colors and NO_COLOR is not set.
  const paint = (text: string) => (output.hasColors?.() ? `\u001b[1m${text}\u001b[22m` : text);
  const prompt = createInterface({ input, output });
  const ask = async (question: string, prefill = "") => {
    const answer = prompt.question(question, { signal });
    if (prefill !== "") prompt.write(prefill);
    return (await answer).trim();
  };
  try {
    const { columns: width } = output;
    const rows = output.rows || DEFAULT_ROWS;
    const all = describeRequest(request, rulesFile, paint, { width });
    const shown = describeRequest(request, rulesFile, paint, { width, rows });
    output.write(shown);
    return await askUntilDecided(request, {
      ask,
      show: (text) => void output.write(`  ${visible(text)}\n`),
      ...(shown === all ? {} : { viewAll: () => showPages(all, rows, ask, output) }),
    });
  } finally {
    prompt.close();
  }
}

/** Rows of a terminal that does not report its size. */
const DEFAULT_ROWS = 24;

/** Shows text one screen at a time. */
async function showPages(
  text: string,
  rows: number,
  ask: (question: string) => Promise<string>,
  output: NodeJS.WritableStream,
): Promise<void> {
  const lines = text.split("\n");
  const size = Math.max(1, rows - 1);
  for (let at = 0; at < lines.length; at += size) {
    const end = Math.min(at + size, lines.length);
    output.write(`${lines.slice(at, end).join("\n")}\n`);
    if (end === lines.length) return;
    const answer = await ask(`lines ${at + 1} to ${end} of ${lines.length}; Enter for more, [b]ack: `);
    if (/^[bnq]/i.test(answer)) return;
  }
}

/** Dialog with the user. */
interface Dialog {
  /** Shows the whole request; set only when lines were omitted. */
  viewAll?: () => Promise<void>;
  ask(question: string, prefill?: string): Promise<string>;
  show(text: string): void;
}

async function askUntilDecided(request: ApprovalRequest, dialog: Dialog): Promise<ApprovalAnswer> {
  const offered = CHOICES.filter(({ decision }) => request.availableDecisions.includes(decision));
  const choices =
    request.proposedAmendment === null ? offered.filter(({ answers }) => !answers.includes("e")) : offered;
  const view = dialog.viewAll === undefined ? [] : ["[v]iew all"];
  const asked = request.cause.kind === "host" ? "Let it" : "Run it";
  const question = `${asked}? ${[...view, ...choices.map(({ label }) => label)].join(", ")}: `;
  for (;;) {
    const answer = (await dialog.ask(question)).toLowerCase();
    if (dialog.viewAll !== undefined && (answer === "v" || answer === "view")) {
      await dialog.viewAll();
      continue;
    }
    const chosen = choices.find(({ answers }) => answers.includes(answer));
    if (chosen === undefined) continue;
    if (!chosen.answers.includes("e")) return chosen.decision;
    const rule = await editRule(request, dialog);
    if (rule !== undefined) return { decision: "accept_and_save", rule };
  }
}

/** Lets the user edit and confirm the rule; undefined: go back. */
async function editRule(request: ApprovalRequest, dialog: Dialog) {
  const { proposedAmendment, plainCommands } = request;
  const proposed = proposedAmendment ?? [];
  // Prefilled text counts as typed: a line feed would submit it.
  let text = proposed.every((word) => !/\n/.test(word) && visible(word) === word) ? quoteWords(proposed) : "";
  for (;;) {
    text = await dialog.ask("Allow always (nothing goes back): ", text);
    if (text === "") return undefined;
    const rule = splitWords(text);
    const problem = rule === undefined ? "a quote is not closed" : findRuleProblem(rule, plainCommands);
    if (rule === undefined || problem !== undefined) {
      dialog.show(`that rule cannot be saved: ${problem}`);
      continue;
    }
    dialog.show(`rule to save ${renderAllowRule(ruleToSave(request, rule))}`);
    const answer = (await dialog.ask("Run it and save this rule? [y]es, [e]dit, [b]ack: ")).toLowerCase();
    if (answer === "y" || answer === "yes") return rule;
    if (answer !== "e" && answer !== "edit") return undefined;
  }
}

function describeNoTerminal(request: ApprovalRequest, rulesFile: string): string {
  const { proposedAmendment: words } = request;
  const rule = words === null ? undefined : ruleToSave(request, words);
  const [shown, file] =
    rule === undefined
      ? ["a rule", rulesFile]
      : [`the rule ${visible(renderAllowRule(rule))}`, fileOfRule(rulesFile, rule)];
  return `there is no terminal to ask at; run it at one, or allow it by ${shown} in ${file}`;
}
