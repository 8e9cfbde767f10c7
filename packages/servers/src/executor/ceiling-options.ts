import { realpathSync, statSync } from "node:fs";
import { isAbsolute, posix, resolve } from "node:path";
import type { CeilingOptions } from "@codex/executor";
import type { SandboxMode } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";

export interface CeilingArguments {
  maxSandbox?: SandboxMode;
  allowedRoot: string[];
  maxNetwork?: "on" | "off";
}

/**
 * The ceiling that the options specify; undefined for none.
 * @param isLocal the directories are on this host, where they are checked
 * @throws CommandError naming the option and its value
 */
export function readCeiling(
  { maxSandbox, allowedRoot, maxNetwork }: CeilingArguments,
  isLocal: boolean,
): CeilingOptions | undefined {
  if (maxSandbox === "workspace-write" && allowedRoot.length === 0) {
    throw usage("--max-sandbox workspace-write needs --allowed-root: the directories that commands may write");
  }
  if (maxSandbox === undefined && allowedRoot.length === 0 && maxNetwork === undefined) return undefined;
  const roots = allowedRoot.map((root) => (isLocal ? readRoot(root) : readRemoteRoot(root)));
  return {
    ...defined({ mode: maxSandbox }),
    roots,
    ...(maxNetwork === undefined ? {} : { network: maxNetwork === "on" }),
  };
}

/** Resolved at startup: `/proc/self/cwd` is different in every process, and changes. */
function readRoot(root: string): string {
  const path = resolve(root);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return PER_PROCESS_PATH.test(path) ? realpathSync(path) : path;
  throw usage(
    `--allowed-root ${JSON.stringify(root)}: ${found === undefined ? "there is no such directory" : "it is not a directory"}`,
  );
}

/** Paths that are different in every process. */
const PER_PROCESS_PATH = /^\/(?:proc|dev\/fd)(?:\/|$)/;

function readRemoteRoot(root: string): string {
  if (PER_PROCESS_PATH.test(posix.normalize(root))) {
    throw usage(
      `--allowed-root ${JSON.stringify(root)}: with --exec-server it differs from process to process on that host`,
    );
  }
  if (isAbsolute(root)) return root;
  throw usage(
    `--allowed-root ${JSON.stringify(root)}: with --exec-server it is a path of that host, and must be absolute`,
  );
}

const usage = (message: string) => new CommandError(message, SERVER_EXIT.usage);
