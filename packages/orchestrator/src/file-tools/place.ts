import { resolvePath } from "@codex/apply-patch";
import type { ExecutorConnection } from "@codex/executor-client";
import type { CallContext } from "../calls/call-context.js";
import type { CallToolOptions } from "../calls/call-options.js";
import { invalid, stopped } from "../calls/prepared.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { pathsOf, resolveDirectory } from "../resolve/directory.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import { getTurn } from "../resolve/turn.js";
import { locate } from "../respond/locate.js";
import { fail, type ToolCallResult } from "../result.js";

/** Where a call accesses files. */
export interface FileCallPlace {
  readonly executor: ExecutorConnection;
  readonly environment: string;
  /** Absolute. */
  readonly cwd: string;
  readonly workspaceRoots: readonly string[];
  /** An absolute path from one of a model. */
  resolve(path: string): string;
  /** The result with the place that it is of. */
  locate(result: ToolCallResult): ToolCallResult;
}

/** The place of a call, connected. @param directories to resolve in sequence, from that of the turn */
export async function placeFileCall(
  named: string | undefined,
  directories: readonly (string | undefined)[],
  options: CallToolOptions,
  context: Pick<CallContext, "catalog" | "sessions" | "environments" | "closing" | "config">,
): Promise<{ kind: "placed"; place: FileCallPlace } | { kind: "result"; result: ToolCallResult }> {
  const { environments: selection, signal, client } = options;
  const args = named === undefined ? {} : { [ENVIRONMENT_ID]: named };
  const placed = await selectEnvironment("exec_command", args, { ...context, selection, client }, signal);
  if (placed.kind === "result") return placed;
  const { executor } = placed.selected;
  const environment = context.catalog.environmentOf(executor.name);
  const isOneOfSeveral = context.catalog.names(selection).length > 1;
  const at = (result: ToolCallResult) => locate(result, environment, { notice: placed.notice, isOneOfSeveral });
  if (executor.host === undefined || !executor.can("exec_server")) {
    const reason = `executor \`${executor.name}\` serves no files: it has no exec-server. Nothing was done.`;
    return { kind: "result", result: at(fail("unsendable", reason)) };
  }
  const { host } = executor;
  const { cwd: turnCwd, workspaceRoots } = getTurn(options, environment);
  const start = resolveDirectory({ workdir: undefined, turnCwd, defaultCwd: context.config.cwd, host });
  if (start.kind === "rejected") return { kind: "result", result: at(asResult(start)) };
  const cwd = directories.filter((one) => one !== undefined).reduce(resolvePath, start.value);
  return {
    kind: "placed",
    place: {
      executor,
      environment,
      cwd,
      workspaceRoots: workspaceRoots ?? [start.value],
      resolve: (path) => pathsOf(host).resolve(cwd, path),
      locate: at,
    },
  };
}

const asResult = (problem: Parameters<typeof invalid>[1]): ToolCallResult => {
  const prepared = stopped(invalid("file", problem));
  if (prepared.kind !== "result") throw new Error("it is a result");
  return prepared.result;
};
