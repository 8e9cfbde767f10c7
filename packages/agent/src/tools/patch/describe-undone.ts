import type { Plan } from "@codex/apply-patch";
import { MAX_TOLD_FILES } from "../../limits.js";
import type { AppliedPlan } from "./apply-plan.js";
import type { Undone } from "./undo-steps.js";

/** What failed, and what is true of each file now. */
export function describeUndone({ path, reason, undone }: Extract<AppliedPlan, { ok: false }>, { steps }: Plan): string {
  const verb = steps.find((step) => step.path === path)?.kind === "remove" ? "remove" : "write";
  const first = `Failed to ${verb} file ${path}: ${reason}`;
  if (undone.every(({ state }) => state === "before")) {
    return `${first}\nThe patch was undone: every file is as before.`;
  }
  const known = new Map(undone.map((one) => [one.path, one]));
  const lines = steps.slice(0, MAX_TOLD_FILES).map((step) => `${step.path}: ${describe(known.get(step.path))}`);
  const more = steps.length - lines.length;
  const rest = more > 0 ? [`… and ${more} more files, which you have to look at`] : [];
  return [first, "The patch could not be undone completely. What is true of each file now:", ...lines, ...rest].join(
    "\n",
  );
}

function describe(undone: Undone | undefined): string {
  const because = undone?.reason === undefined ? "" : ` (${undone.reason})`;
  switch (undone?.state) {
    case "after":
      return `as the patch leaves it${because}`;
    case "other":
      return `neither as before nor as the patch leaves it${because}`;
    case "unknown":
      return `unknown, since it cannot be read${because}`;
    default:
      return "as before";
  }
}
