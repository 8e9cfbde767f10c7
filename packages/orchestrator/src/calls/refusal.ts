import { describeBlocked, type ToolUse } from "@codex/hooks";
import { defined } from "@codex/values";
import type { Refused } from "../decide/decision.js";
import type { TypedShell } from "../decide/typed-line.js";
import { closedBeforeSending, interrupted, type Refusal, type RefusedCall, refuse } from "../result.js";

/** What was refused, as the model reads it. */
export interface RefusedDeed {
  /** Begins a sentence, such as `The command`. */
  readonly subject: string;
  /** Ends it, such as `Nothing was run.` */
  readonly effect: string;
  /** For programs. */
  readonly command?: readonly string[];
  readonly cwd?: string;
}

/** The result of a call whose deed was refused. */
export function refuseDeed({ code, reason, by }: Refused, { subject, effect, ...details }: RefusedDeed): RefusedCall {
  if (code === "interrupted") return interrupted();
  if (code === "closed") return closedBeforeSending();
  const { status, words } = REFUSALS[code];
  const structured: Refusal = { code, reason, ...details, ...defined({ by }) };
  return refuse(status, `${subject} ${words}: ${reason}. ${effect}`, structured);
}

const REFUSALS = {
  forbidden: { status: "forbidden", words: "is forbidden" },
  denied: { status: "denied", words: "was not approved" },
  cancelled: { status: "cancelled", words: "was cancelled" },
  sandbox_unavailable: { status: "error", words: "cannot be run as it has to be" },
  changed: { status: "error", words: "is not what was approved" },
} as const;

/** A command that is not run. */
export const refuseCommand = (
  refused: Refused,
  { command, cwd }: { command: readonly string[]; cwd: string },
): RefusedCall => refuseDeed(refused, { subject: "The command", effect: "Nothing was run.", command, cwd });

/** What a hook blocks. */
export const refuseBlocked = (
  use: Pick<ToolUse, "tool" | "input">,
  reason: string,
  details: Pick<RefusedDeed, "command" | "cwd"> = {},
): RefusedCall => {
  const { command, cwd } = details;
  return refuse("denied", describeBlocked(use, reason), {
    code: "denied",
    reason,
    ...defined({ command, cwd }),
    by: "hook",
  });
};

/** Input for a shell that is not written. */
export const refuseTyped = (refused: Refused, shell: TypedShell, command: readonly string[]): RefusedCall =>
  refuseDeed(refused, {
    subject: "The input",
    effect: "Nothing was written.",
    command,
    cwd: shell.resolved.request.cwd,
  });
