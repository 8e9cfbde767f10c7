import { MAX_FILE_BYTES } from "../limits.js";
import { applyChunks, hasResult } from "../match/apply-chunks.js";
import { type Operation, type Patch, PatchError, type PatchProblem, type UpdateFile } from "../patch.js";
import { quoteLine } from "../quote.js";
import { findPathProblems } from "./check-paths.js";
import type { FileState, FilesBefore, Plan, Planned, PlannedChange, Step } from "./plan.js";
import { isBelow, resolvePath } from "./resolve-path.js";

/** Absolute paths named in a patch, whose state a plan needs. */
export function getPatchPaths({ operations }: Patch, cwd: string): string[] {
  const named = operations.flatMap((operation) =>
    operation.kind === "update" && operation.moveTo !== undefined
      ? [operation.path, operation.moveTo]
      : [operation.path],
  );
  return [...new Set(named.map((path) => resolvePath(cwd, path)))];
}

/** Plans a patch against the current state of the files, for all operations or none. Changes nothing. */
export function planPatch(patch: Patch, cwd: string, files: FilesBefore): Planned {
  const pathProblems = findPathProblems(patch, cwd, files);
  if (pathProblems.length > 0) return { ok: false, problems: pathProblems, applied: [] };
  const states = new Map(files.states);
  const problems: PatchProblem[] = [];
  const applied: string[] = [];
  const steps: Step[] = [];
  const changes: PlannedChange[] = [];
  for (const operation of patch.operations) {
    try {
      const planned = planOperation(operation, cwd, states, files.states);
      steps.push(...planned.steps);
      changes.push(planned.change);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      problems.push({ path: operation.path, line: operation.line, ...error.problem });
    }
    if (isApplied(operation, cwd, files.states)) applied.push(operation.path);
  }
  if (problems.length > 0) return { ok: false, problems, applied };
  return { ok: true, plan: { steps: orderSteps(mergeSteps(steps)), changes } };
}

/** `states`: after the earlier operations; updated with the effect of this one. */
function planOperation(
  operation: Operation,
  cwd: string,
  states: Map<string, FileState>,
  originals: FilesBefore["states"],
): { steps: Step[]; change: PlannedChange } {
  const path = resolvePath(cwd, operation.path);
  const before = states.get(path) ?? { kind: "missing" };
  const change = { kind: operation.kind, path, shownPath: operation.path };
  switch (operation.kind) {
    case "add": {
      if (before.kind === "directory") fail(path, "is a directory, and cannot be replaced by a file");
      if (before.kind === "unreadable") failUnreadable(path, before.reason);
      const after = encode(path, operation.lines);
      states.set(path, { kind: "file", bytes: after });
      return { steps: [{ kind: "write", path, before, after }], change };
    }
    case "delete": {
      // A link can be removed whatever it leads to.
      if (before.isLink !== true) readBytes(path, before, "delete");
      states.set(path, { kind: "missing" });
      return { steps: [{ kind: "remove", path, before }], change };
    }
    case "update": {
      const bytes = readBytes(path, before, "update");
      const after = update(path, bytes, operation);
      const moveTo = operation.moveTo === undefined ? path : resolvePath(cwd, operation.moveTo);
      if (moveTo === path) {
        states.set(path, { kind: "file", bytes: after });
        return { steps: [{ kind: "write", path, before, after }], change };
      }
      const target = states.get(moveTo) ?? { kind: "missing" };
      checkTarget(path, moveTo, target, originals.get(moveTo));
      states.set(moveTo, { kind: "file", bytes: after });
      states.set(path, { kind: "missing" });
      return {
        steps: [
          { kind: "write", path: moveTo, before: target, after, movedFrom: path },
          { kind: "remove", path, before },
        ],
        change: { ...change, moveTo, shownMoveTo: operation.moveTo! },
      };
    }
  }
}

function readBytes(path: string, state: FileState, verb: "delete" | "update"): Uint8Array {
  if (state.kind === "missing" && state.isLink) fail(path, `to ${verb} is a symbolic link that leads nowhere`);
  if (state.kind === "missing") fail(path, `to ${verb} does not exist (No such file or directory)`);
  if (state.kind === "directory") fail(path, `to ${verb} is not a file but a directory`);
  if (state.kind === "unreadable") failUnreadable(path, state.reason);
  return state.bytes;
}

function update(path: string, bytes: Uint8Array, { chunks }: UpdateFile): Uint8Array {
  if (chunks.length > 0) checkSize(path, bytes.length);
  try {
    const after = applyChunks(bytes, chunks);
    checkSize(path, after.length);
    return after;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new PatchError({ ...error.problem, message: `${quoteLine(path)}: ${error.problem.message}` });
  }
}

function encode(path: string, lines: readonly string[]): Uint8Array {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  checkSize(path, bytes.length);
  return bytes;
}

function checkSize(path: string, bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return;
  fail(path, `has ${bytes} bytes; a patch changes files of at most ${MAX_FILE_BYTES} bytes: use a command`);
}

function checkTarget(path: string, moveTo: string, target: FileState, original: FileState | undefined): void {
  if (target.kind === "missing" && target.isLink !== true && original?.isLink) {
    fail(moveTo, `is a symbolic link: delete it in one patch, and move '${quoteLine(path)}' there in the next`);
  }
  if (target.kind === "missing") return;
  if (target.kind === "directory") fail(moveTo, `is a directory: name the file that '${quoteLine(path)}' is to become`);
  fail(
    moveTo,
    `exists already, and moving '${quoteLine(path)}' there would lose it: delete it first, or choose another name`,
  );
}

/** Whether an operation has already been applied. */
export function isApplied(operation: Operation, cwd: string, states: ReadonlyMap<string, FileState>): boolean {
  const stateOf = (path: string): FileState => states.get(resolvePath(cwd, path)) ?? { kind: "missing" };
  const here = stateOf(operation.path);
  switch (operation.kind) {
    case "add":
      return (
        here.kind === "file" &&
        isSame(here.bytes, new TextEncoder().encode(operation.lines.map((line) => `${line}\n`).join("")))
      );
    case "delete":
      return isGone(here);
    case "update": {
      const there = operation.moveTo === undefined ? here : stateOf(operation.moveTo);
      const isMoved = operation.moveTo === undefined || isGone(here);
      return (
        isMoved && there.kind === "file" && (operation.chunks.length === 0 || hasResult(there.bytes, operation.chunks))
      );
    }
  }
}

const isGone = (state: FileState): boolean => state.kind === "missing" && state.isLink !== true;

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

/** Merges remove and write of one file into a write, so that the file never disappears in between. */
function mergeSteps(steps: readonly Step[]): Step[] {
  const written = new Set(steps.filter(({ kind }) => kind === "write").map(({ path }) => path));
  const removed = new Map(steps.filter(({ kind }) => kind === "remove").map(({ path, before }) => [path, before]));
  return steps
    .filter(({ kind, path }) => kind === "write" || !written.has(path))
    .map((step) => (step.kind === "write" ? { ...step, before: removed.get(step.path) ?? step.before } : step));
}

/** Orders writes before removes, so that a moved file always exists; files in the way of a directory are removed first. */
function orderSteps(steps: readonly Step[]): Plan["steps"] {
  const writes = steps.filter(({ kind }) => kind === "write");
  const removes = steps.filter(({ kind }) => kind === "remove");
  const isInTheWay = ({ path }: Step) => writes.some((write) => isBelow(write.path, path));
  return [...removes.filter(isInTheWay), ...writes, ...removes.filter((step) => !isInTheWay(step))];
}

function failUnreadable(path: string, reason: string): never {
  fail(path, `cannot be read: ${reason}`);
}

function fail(path: string, message: string): never {
  throw new PatchError({ message: `${quoteLine(path)} ${message}` });
}
