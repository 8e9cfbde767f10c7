import type { Operation, Patch, PatchProblem } from "../patch.js";
import { quoteLine } from "../quote.js";
import type { FilesBefore } from "./plan.js";
import { getAncestors, resolvePath } from "./resolve-path.js";

/** The use of a path by an operation. */
interface Use {
  operation: Operation;
  role: "operation" | "target";
  /** Absolute. */
  path: string;
  /** With symlinks resolved. */
  realPath: string;
}

/**
 * Finds conflicts between the operations of a patch: two operations on one file, possibly under different names, or a file
 * where another operation needs a directory. A move may target a path that an earlier operation has freed.
 */
export function findPathProblems(patch: Patch, cwd: string, { realPaths }: FilesBefore): PatchProblem[] {
  const problems: PatchProblem[] = [];
  const uses = patch.operations.map((operation) => getUses(operation, cwd, realPaths));
  const first = new Map<string, Use>();
  const freed = new Set<string>();
  for (const [own, target] of uses) {
    for (const use of target === undefined ? [own] : [own, target]) {
      const other = first.get(use.realPath);
      const isFree = use.role === "target" && freed.delete(use.realPath);
      if (other === undefined) first.set(use.realPath, use);
      else if (!isFree && !isMoveOntoItself(use, other)) problems.push(describeConflict(use, other));
    }
    if (leaves(own, target)) freed.add(own.realPath);
  }
  return problems.length > 0 ? problems : findNested(uses.flatMap(present));
}

/** Paths used by an operation: its own, and the target of a move. */
function getUses(operation: Operation, cwd: string, realPaths: FilesBefore["realPaths"]): [own: Use, target?: Use] {
  const use = (role: Use["role"], name: string): Use => {
    const path = resolvePath(cwd, name);
    return { operation, role, path, realPath: realPaths?.get(path) ?? path };
  };
  const own = use("operation", operation.path);
  if (operation.kind !== "update" || operation.moveTo === undefined) return [own];
  return [own, use("target", operation.moveTo)];
}

const present = ([own, target]: [own: Use, target?: Use]): Use[] => (target === undefined ? [own] : [own, target]);

const isMoveOntoItself = (use: Use, other: Use): boolean =>
  use.operation === other.operation && use.path === other.path;

/** Whether the operation frees its path. */
const leaves = (own: Use, target: Use | undefined): boolean =>
  own.operation.kind === "delete" || (target !== undefined && target.path !== own.path);

function describeConflict(use: Use, other: Use): PatchProblem {
  const names =
    use.path === other.path
      ? `'${quoteLine(use.path)}'`
      : `'${quoteLine(use.path)}' and '${quoteLine(other.path)}', which are one file`;
  const lines = `lines ${other.operation.line} and ${use.operation.line} of the patch`;
  const isMove = use.role === "target" || other.role === "target";
  const message =
    use.operation === other.operation
      ? `a file cannot be moved onto itself: ${names}`
      : isMove
        ? `${names}: one operation moves a file there, and another one uses the path (${lines}); one of them would be lost`
        : `more than one operation for ${names} (${lines}): put its changes into one`;
  return { message, line: use.operation.line, path: use.operation.path };
}

function findNested(uses: readonly Use[]): PatchProblem[] {
  const written = uses.filter(({ operation, role }) => role === "target" || operation.kind === "add");
  const files = new Map(uses.map((use) => [use.realPath, use]));
  const problems: PatchProblem[] = [];
  for (const use of written) {
    const above = getAncestors(use.realPath).find((path) => files.has(path));
    const file = above === undefined ? undefined : files.get(above)!;
    if (file === undefined || file.operation.kind === "delete") continue;
    const message = `'${quoteLine(use.path)}' needs a directory where the patch has the file '${quoteLine(file.path)}'`;
    problems.push({ message, line: use.operation.line, path: use.operation.path });
  }
  return problems;
}
