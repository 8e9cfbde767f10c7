import { readFileSync } from "node:fs";
import { posix } from "node:path";
import {
  type FileState,
  getPatchPaths,
  parsePatch,
  planPatch,
  renderProblem,
  renderProblems,
  renderSuccess,
} from "@codex/apply-patch";

/** Files below a directory as the recorded cases write them. */
export type Tree = Record<
  string,
  string | { base64: string } | { text: string; mode: number } | { link: string } | { dir: true }
>;

export interface RecordedCase {
  name: string;
  before: Tree;
  patch?: string;
  cmd?: string;
  ok: boolean;
  output: string;
  after: Tree;
  gist?: string[];
  better?: { ok: boolean; after: Tree; gist?: string[] }[];
}

/** Recorded from Codex 0.169.0, with what is right too. */
export const { cases: RECORDED } = JSON.parse(
  readFileSync(new URL("corpus/recorded.json", import.meta.url), "utf8"),
) as { cases: RecordedCase[] };

/** A tree in memory: content by absolute path, links by absolute path. */
export class MemoryTree {
  readonly files = new Map<string, Uint8Array>();
  readonly links = new Map<string, string>();

  constructor(tree: Tree) {
    for (const [name, entry] of Object.entries(tree)) {
      const path = `/ws/${name}`;
      if (typeof entry === "string") this.files.set(path, Buffer.from(entry));
      else if ("base64" in entry) this.files.set(path, Buffer.from(entry.base64, "base64"));
      else if ("text" in entry) this.files.set(path, Buffer.from(entry.text));
      else if ("link" in entry) this.links.set(path, posix.resolve(posix.dirname(path), entry.link));
    }
  }

  state(path: string): FileState {
    const target = this.links.get(path) ?? path;
    const bytes = this.files.get(target);
    if (bytes !== undefined) return { kind: "file", bytes, isLink: target !== path };
    return [...this.files.keys()].some((name) => name.startsWith(`${path}/`))
      ? { kind: "directory" }
      : { kind: "missing" };
  }

  /** Applies a patch all at once, and answers as the tool does. */
  apply(text: string): { ok: boolean; output: string } {
    const parsed = parsePatch(text);
    if (!parsed.ok) return { ok: false, output: renderProblem(parsed.problem) };
    const states = new Map(getPatchPaths(parsed.patch, "/ws").map((path) => [path, this.state(path)]));
    const planned = planPatch(parsed.patch, "/ws", { states });
    if (!planned.ok) return { ok: false, output: renderProblems(planned) };
    for (const step of planned.plan.steps) {
      if (step.kind === "write") this.files.set(this.links.get(step.path) ?? step.path, step.after);
      else if (!this.links.delete(step.path)) this.files.delete(step.path);
    }
    return { ok: true, output: renderSuccess(planned.plan.changes, 0) };
  }

  /** Contents by name, as latin1 so that bytes compare. */
  contents(): Record<string, string> {
    return Object.fromEntries(
      [...this.files].map(([path, bytes]) => [path, Buffer.from(bytes).toString("latin1")]).sort(),
    );
  }
}
