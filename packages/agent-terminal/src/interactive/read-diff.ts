import type { Orchestrator, RunCommandRequest } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { MAX_DIFF_BYTES } from "../limits.js";

/** Location of a repository. */
export interface DiffPlace {
  /** Name of the executor. */
  readonly executor: string;
  /** Absolute. */
  readonly cwd: string;
  /** Sandbox of git, which may run filter programs configured by the repository. */
  readonly sandbox: RunCommandRequest["sandbox"];
  readonly signal: AbortSignal;
}

/** Returns the changes since the last commit, and untracked files. @throws Error with the message of git */
export async function readDiff(orchestrator: Pick<Orchestrator, "runCommand">, place: DiffPlace): Promise<string> {
  const head = await runGit(orchestrator, place, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  // Before the first commit, show everything that is staged.
  const since = head.isOk ? ["HEAD"] : ["--cached"];
  const tracked = await runGit(orchestrator, place, ["diff", "--no-ext-diff", "--no-textconv", ...since]);
  if (!tracked.isOk) throw new Error(`git: ${tracked.text.trim()}`);
  const untracked = await runGit(orchestrator, place, ["ls-files", "--others", "--exclude-standard"]);
  return untracked.text === "" ? tracked.text : `${tracked.text}\nnot tracked:\n${untracked.text}`;
}

async function runGit(
  orchestrator: Pick<Orchestrator, "runCommand">,
  { executor, cwd, sandbox, signal }: DiffPlace,
  args: readonly string[],
): Promise<{ isOk: boolean; text: string }> {
  const command = orchestrator.runCommand(
    {
      argv: ["git", "-c", "core.fsmonitor=false", ...args],
      cwd,
      env: { GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat" },
      envPolicy: { inherit: "all", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] },
      tty: false,
      stdin: "null",
      ...defined({ sandbox }),
    },
    { executor, signal },
  );
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of command.output) {
    const { dropped } = piece;
    if (dropped !== undefined) pieces.push(Buffer.from(`\n… bytes ${dropped.from}-${dropped.to} are gone\n`));
    if (bytes < MAX_DIFF_BYTES) pieces.push(piece.bytes);
    bytes += piece.bytes.length;
  }
  const ended = await command.ended;
  if (ended.kind !== "ended") throw new Error(ended.reason);
  const cut = bytes > MAX_DIFF_BYTES ? `\n… these are the first of ${bytes} bytes\n` : "";
  return { isOk: ended.exitCode === 0, text: `${Buffer.concat(pieces).toString()}${cut}` };
}
