import { type FilesBefore, type Plan, type PlannedChange, renderDiff } from "@codex/apply-patch";

/** One change of a patch, as it is shown. */
export interface DescribedChange {
  readonly path: string;
  readonly change: PlannedChange["kind"];
  readonly movedFrom?: string;
  /** Unified; absent for what is no text, or too large. */
  readonly diff?: string;
}

/** The changes of a plan, by their paths. */
export function describeChanges({ changes, steps }: Plan): DescribedChange[] {
  const described = changes.map((change) => ({
    path: change.moveTo ?? change.path,
    change: change.kind,
    ...(change.moveTo === undefined ? {} : { movedFrom: change.path }),
    ...diffOf(change, steps),
  }));
  return described.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** All paths of a plan, as named in the patch and with symlinks resolved. */
export function getAffectedPaths({ steps }: Plan, { realPaths }: FilesBefore): string[] {
  return [...new Set(steps.flatMap(({ path }) => [path, realPaths?.get(path) ?? path]))];
}

function diffOf(change: PlannedChange, steps: Plan["steps"]): { diff?: string } {
  const source = steps.find(({ path }) => path === change.path);
  const written = steps.find(({ path, kind }) => kind === "write" && path === (change.moveTo ?? change.path));
  const before = source?.before.kind === "file" ? source.before.bytes : undefined;
  const diff = renderDiff(before, change.kind !== "delete" && written?.kind === "write" ? written.after : undefined);
  return diff === undefined ? {} : { diff };
}
