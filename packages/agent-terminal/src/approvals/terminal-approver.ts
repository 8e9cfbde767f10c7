import { createInterface } from "node:readline/promises";
import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  findRuleProblem,
} from "@codex/orchestrator";
import { renderAllowRule } from "@codex/policy";
import { splitWords } from "../text/split-words.js";
import { quoteWords, visible } from "../text/unseen.js";
import { describeRequest } from "./describe-approval.js";

/** Answers, their decisions and labels, in the order of the question. Only exact answers count: `stop` is not `s`. */
const CHOICES: readonly { answers: readonly string[]; decision: ApprovalDecision; label: string }[] = [
  { answers: ["y", "yes"], decision: "accept", label: "[y]es" },
  { answers: ["s", "session"], decision: "accept_for_session", label: "for the [s]ession" },
  { answers: ["a", "allow"], decision: "accept_and_save", label: "[a]llow and save the rule" },
  { answers: ["e", "edit"], decision: "accept_and_save", label: "[e]dit the rule" },
  { answers: ["n", "no"], decision: "decline", label: "[n]o" },
  { answers: ["q", "quit"], decision: "cancel", label: "[q]uit" },
];

/** Terminal of the person. */
export interface ApproverTerminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number; hasColors?: () => boolean };
}

/**
 * Asks the person at the terminal; saved rules go to `rulesFile`. Where there is no terminal, what needs approval is
 * denied, and the reason says how it could be allowed.
 */
export function createTerminalApprover(
  rulesFile: string,
  terminal: ApproverTerminal = { input: process.stdin, output: process.stderr },
): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    requestApproval(request, { signal }) {
      // One at a time: what is typed must answer the visible question.
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
  // Only if the terminal supports it and its user has not asked for plain text.
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
      tell: (text) => void output.write(`  ${visible(text)}\n`),
      ...(shown === all ? {} : { viewAll: () => showPages(all, rows, ask, output) }),
    });
  } finally {
    prompt.close();
  }
}

/** Size of a terminal that does not report one. */
const DEFAULT_ROWS = 24;

/** A text of complete lines, a screen at a time. */
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

/** Dialog with the person. */
interface Talk {
  /** Shows the whole request; set only when the question omits something. */
  viewAll?: () => Promise<void>;
  ask(question: string, prefill?: string): Promise<string>;
  tell(text: string): void;
}

async function askUntilDecided(request: ApprovalRequest, talk: Talk): Promise<ApprovalAnswer> {
  const choices = CHOICES.filter(({ decision }) => request.availableDecisions.includes(decision));
  const view = talk.viewAll === undefined ? [] : ["[v]iew all"];
  const question = `Run it? ${[...view, ...choices.map(({ label }) => label)].join(", ")}: `;
  for (;;) {
    const answer = (await talk.ask(question)).toLowerCase();
    if (talk.viewAll !== undefined && (answer === "v" || answer === "view")) {
      await talk.viewAll();
      continue;
    }
    const chosen = choices.find(({ answers }) => answers.includes(answer));
    if (chosen === undefined) continue;
    if (!chosen.answers.includes("e")) return chosen.decision;
    const rule = await editRule(request, talk);
    if (rule !== undefined) return { decision: "accept_and_save", rule };
  }
}

/** Lets the person edit the rule and confirm it; undefined for going back. */
async function editRule({ proposedAmendment, plainCommands }: ApprovalRequest, talk: Talk) {
  const proposed = proposedAmendment ?? [];
  // Text put on the line counts as typed: a line end in it would be an answer.
  let text = proposed.every((word) => !/\n/.test(word) && visible(word) === word) ? quoteWords(proposed) : "";
  for (;;) {
    text = await talk.ask("Allow commands that begin with (nothing goes back): ", text);
    if (text === "") return undefined;
    const rule = splitWords(text);
    const problem = rule === undefined ? "a quote is not closed" : findRuleProblem(rule, plainCommands);
    if (rule === undefined || problem !== undefined) {
      talk.tell(`that rule cannot be saved: ${problem}`);
      continue;
    }
    talk.tell(`rule to save ${renderAllowRule(rule)}`);
    const answer = (await talk.ask("Run it and save this rule? [y]es, [e]dit, [b]ack: ")).toLowerCase();
    if (answer === "y" || answer === "yes") return rule;
    if (answer !== "e" && answer !== "edit") return undefined;
  }
}

function describeNoTerminal({ proposedAmendment }: ApprovalRequest, rulesFile: string): string {
  const rule = proposedAmendment === null ? "a rule" : `the rule ${visible(renderAllowRule(proposedAmendment))}`;
  return `there is no terminal to ask at; run it at one, or allow it by ${rule} in ${rulesFile}`;
}
