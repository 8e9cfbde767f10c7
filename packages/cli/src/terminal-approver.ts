import { createInterface } from "node:readline/promises";
import type { ApprovalDecision, ApprovalRequest, Approver } from "@codex/orchestrator";

const KEYS: Readonly<Record<string, ApprovalDecision>> = {
  y: "accept",
  s: "accept_for_session",
  n: "decline",
  q: "cancel",
};

/** Asks the person at the terminal. Undefined where there is none: what needs approval is denied then. */
export function createTerminalApprover(): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return {
    async requestApproval(request, { signal }) {
      const prompt = createInterface({ input: process.stdin, output: process.stderr });
      try {
        process.stderr.write(describeRequest(request));
        for (;;) {
          const answer = await prompt.question("Run it? [y]es, for the [s]ession, [n]o, [q]uit: ", { signal });
          const decision = KEYS[answer.trim().toLowerCase().charAt(0)];
          if (decision !== undefined) return decision;
        }
      } finally {
        prompt.close();
      }
    },
  };
}

/** What a person needs for deciding. Control characters are made visible: a command must not repaint the question. */
function describeRequest({ command, cwd, environment, reason, justification }: ApprovalRequest): string {
  const lines = [
    "",
    `  command      ${command.map(quoteWord).join(" ")}`,
    `  directory    ${visible(cwd)}`,
    `  environment  ${visible(environment)}`,
    `  reason       ${visible(reason)}`,
    ...(justification === null ? [] : [`  the model    ${visible(justification)}`]),
    "",
  ];
  return lines.join("\n");
}

const quoteWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${visible(word.replaceAll("'", "'\\''"))}'`;

/** Control and direction-changing characters as escapes; line ends and tabs of a script stay. */
const visible = (text: string) =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
