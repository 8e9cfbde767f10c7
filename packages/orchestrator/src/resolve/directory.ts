import { posix, win32 } from "node:path";
import type { HostInfo } from "@codex/executor-protocol";
import { type Resolved, rejected } from "./resolved.js";

/** Directories a call can run in, the most specific first. */
export interface DirectorySources {
  /** The model's argument; empty means absent. */
  workdir: string | undefined;
  /** The caller's, for this turn. */
  turnCwd: string | undefined;
  /** The configuration's. */
  defaultCwd: string | undefined;
  host: HostInfo | undefined;
}

/** The absolute directory of a call, as a path of the executor's host. Does not access the file system. */
export function resolveDirectory(sources: DirectorySources): Resolved<string> {
  const path = pathsOf(sources.host);
  const workdir = sources.workdir || undefined;
  if (workdir !== undefined && path.isAbsolute(workdir)) return { kind: "ok", value: path.normalize(workdir) };
  const base = sources.turnCwd ?? sources.defaultCwd ?? sources.host?.cwd;
  if (base === undefined) {
    const got = workdir === undefined ? "no `workdir` was given" : `\`${workdir}\` is relative`;
    return rejected("workdir", `this executor does not report its directory; expected an absolute path, but ${got}`);
  }
  if (!path.isAbsolute(base)) return rejected("cwd", `the directory of the turn, \`${base}\`, is not absolute`);
  return { kind: "ok", value: workdir === undefined ? path.normalize(base) : path.join(base, workdir) };
}

export const pathsOf = (host: HostInfo | undefined): typeof posix => (host?.os === "win32" ? win32 : posix);
