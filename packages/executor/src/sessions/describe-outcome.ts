import { getExitCode } from "@codex/exec-backend";
import { type ProcessOutcome, renderOutcome } from "@codex/executor-protocol";

/** How a process ended, as part of a message. */
export const describeOutcome = (outcome: ProcessOutcome): string =>
  renderOutcome(outcome, { exitCode: getExitCode(outcome) });
