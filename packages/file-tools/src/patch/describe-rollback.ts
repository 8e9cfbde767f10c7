import type { Plan } from "@codex/apply-patch";
import { MAX_REPORTED_FILES } from "../limits.js";
import type { AppliedPlan } from "./apply-plan.js";
import type { RolledBackFile } from "./roll-back.js";

/** Describes the failure, and the state of each file after the rollback. */
export function describeRollback(
  { path, reason, files }: Extract<AppliedPlan, { ok: false }>,
  { steps }: Plan,
): string {
  const verb = steps.find((step) => step.path === path)?.kind === "remove" ? "remove" : "write";
  const first = `Failed to ${verb} file ${path}: ${reason}`;
  if (files.every(({ state }) => state === "before")) {
    return `${first}\nThe patch was undone: every file is as before.`;
  }
  const known = new Map(files.map((one) => [one.path, one]));
  const lines = steps.slice(0, MAX_REPORTED_FILES).map((step) => `${step.path}: ${describe(known.get(step.path))}`);
  const more = steps.length - lines.length;
  const rest = more > 0 ? [`… and ${more} more files, which you have to look at`] : [];
  return [first, "The patch could not be undone completely. What is true of each file now:", ...lines, ...rest].join(
    "\n",
  );
}

function describe(file: RolledBackFile | undefined): string {
  const because = file?.reason === undefined ? "" : ` (${file.reason})`;
  switch (file?.state) {
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
