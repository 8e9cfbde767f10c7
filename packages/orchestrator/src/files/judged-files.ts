import { sha256 } from "@codex/audit";
import type { ExecutorConnection } from "@codex/executor-client";
import type { Sandbox } from "@codex/executor-protocol";
import { messageOf } from "@codex/values";
import type { CallPorts } from "../calls/call-context.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { OrchestratorError } from "../errors.js";
import { MAX_READ_FILE_BYTES } from "../limits.js";
import { pathsOf, resolveDirectory } from "../resolve/directory.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import { getTurn } from "../resolve/turn.js";
import type { ConnectFiles } from "./connect.js";
import { decideFileAccess } from "./decide-file-access.js";
import type { HostFiles } from "./file-connector.js";
import type { FileAccessOptions, FilePlace, OrchestratorFiles } from "./orchestrator-files.js";

/** One access to files, as shown to an approver and recorded in the audit log. */
interface Access {
  tool: "read_file" | "write_file" | "stat_file" | "list_files" | "remove_file";
  path: string;
  /** Further details that a decision covers. */
  details?: Record<string, unknown>;
}

/** @param untilReady waits for the executors of the options */
export function createFiles(
  context: CallPorts,
  untilReady: (signal: AbortSignal | undefined) => Promise<void>,
  connect: ConnectFiles,
): OrchestratorFiles {
  const access = async <T>(
    one: Access,
    options: FileAccessOptions,
    run: (files: HostFiles, path: string, sandbox: { sandbox: Sandbox | null }) => Promise<T>,
  ) => {
    await untilReady(options.signal);
    return accessFiles(one, options, context, connect, run);
  };
  return {
    read: (path, options = {}) =>
      access({ tool: "read_file", path }, options, async (files, at, sandbox) => {
        const { size } = await files.getMetadata(at, sandbox);
        if (size > MAX_READ_FILE_BYTES) {
          const limit = `limit ${MAX_READ_FILE_BYTES} bytes`;
          throw new OrchestratorError("file_failed", `\`${path}\` has ${size} bytes (${limit})`);
        }
        return files.readFile(at, { ...sandbox, size });
      }),
    write: (path, bytes, options = {}) => {
      const details = { bytes: bytes.length, sha256: sha256(Buffer.from(bytes).toString("latin1")) };
      return access({ tool: "write_file", path, details }, options, async (files, at, sandbox) => {
        const above = at.includes("\\") ? at.replace(/[\\/][^\\/]*$/, "") : at.replace(/\/[^/]*$/, "");
        if (above !== "") await files.createDirectory(above, { ...sandbox, recursive: true });
        await files.writeFile(at, bytes, { ...sandbox, atomic: true });
      });
    },
    stat: (path, options = {}) =>
      orUndefined(
        access({ tool: "stat_file", path }, options, async (files, at, sandbox) => {
          const found = await files.getMetadata(at, sandbox);
          return { kind: kindOf(found), size: found.size, modifiedAtMs: found.modifiedAtMs };
        }),
      ),
    list: (path, options = {}) =>
      access({ tool: "list_files", path }, options, async (files, at, sandbox) => {
        const entries = await files.readDirectory(at, sandbox);
        return entries.map((entry) => ({ name: entry.fileName, kind: kindOf(entry) }));
      }),
    async remove(path, { recursive = false, ...options } = {}) {
      const removed = access({ tool: "remove_file", path, details: { recursive } }, options, (files, at, sandbox) =>
        files.remove(at, { ...sandbox, recursive, force: false }).then(() => true),
      );
      return (await orUndefined(removed)) ?? false;
    },
    async decide({ tool, paths, text, ...place }, options = {}) {
      const change = { paths, shown: [tool, text], subject: "patch" as const };
      return decideFileAccess({ ...locate(place, context), tool, change, args: { input: text } }, options, context);
    },
    async sandboxOf(place) {
      const deed = { ...locate(place, context), tool: "read_file", change: undefined };
      const decision = await context.deciders.judging(place.environment, undefined).fileAccess(deed, undefined);
      return decision.kind === "allowed"
        ? decision.terms
        : { refused: decision.kind === "refused" ? decision.reason : "" };
    },
  };
}

/** @throws OrchestratorError `no_executor` */
function locate({ environment, cwd, workspaceRoots = [cwd] }: FilePlace, { catalog }: CallPorts) {
  const executor = catalog.get(environment);
  if (executor === undefined)
    throw new OrchestratorError("unknown_environment", `environment \`${environment}\` is not attached`);
  return { executor, cwd, workspaceRoots };
}

const kindOf = ({ isFile, isDirectory }: { isFile: boolean; isDirectory: boolean }) =>
  isFile ? ("file" as const) : isDirectory ? ("directory" as const) : ("other" as const);

async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function accessFiles<T>(
  access: Access,
  options: FileAccessOptions,
  context: CallPorts,
  connect: ConnectFiles,
  run: (files: HostFiles, path: string, sandbox: { sandbox: Sandbox | null }) => Promise<T>,
): Promise<T> {
  const { signal, client } = options;
  signal?.throwIfAborted();
  const named = options.environment === undefined ? {} : { [ENVIRONMENT_ID]: options.environment };
  const placing = { ...context, selection: options.environments, client };
  const placed = await selectEnvironment("exec_command", named, placing, signal);
  if (placed.kind === "result") throw new OrchestratorError("unsupported", placed.result.text);
  const { executor } = placed.selected;
  const { host, name } = executor;
  if (host === undefined || !executor.can("exec_server")) {
    throw new OrchestratorError("unsupported", `executor \`${name}\` serves no files: it has no exec-server`);
  }
  const turn = getTurn(options, name);
  const cwd = resolveDirectory({ workdir: undefined, turnCwd: turn.cwd, defaultCwd: context.config.cwd, host });
  if (cwd.kind === "rejected") throw new OrchestratorError("bad_option", cwd.problem);
  const path = pathsOf(host).resolve(cwd.value, access.path);
  const place = { executor, cwd: cwd.value, workspaceRoots: turn.workspaceRoots ?? [cwd.value] };
  const permit = await decideAccess({ ...access, path }, place, options, context);
  const { sandbox } = permit;
  let isDone = false;
  try {
    const files = await connect(executor);
    signal?.throwIfAborted();
    const result = await run(files, path, { sandbox });
    isDone = true;
    return result;
  } catch (error) {
    if (error instanceof OrchestratorError) throw error;
    const isMissing = typeof error === "object" && error !== null && "code" in error && error.code === NOT_FOUND;
    throw new OrchestratorError(isMissing ? "not_found" : "file_failed", `\`${path}\`: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    permit.ended(isDone);
  }
}

/** Error code of the exec-server protocol for a missing file. */
const NOT_FOUND = -32004;

interface Place {
  executor: ExecutorConnection;
  cwd: string;
  workspaceRoots: readonly string[];
}

/** The sandbox of an access, and a function that reports its end. @throws OrchestratorError `refused` */
async function decideAccess(
  { tool, path, details = {} }: Access,
  { executor, cwd, workspaceRoots }: Place,
  options: FileAccessOptions,
  ports: CallPorts,
): Promise<{ sandbox: Sandbox | null; ended: (isDone: boolean) => void }> {
  const isChange = tool === "write_file" || tool === "remove_file";
  const shown = [tool, path, JSON.stringify(details)];
  const decided = await decideFileAccess(
    {
      executor,
      tool,
      cwd,
      workspaceRoots,
      change: isChange ? { paths: [path], shown, subject: "change" } : undefined,
      args: { path, ...details },
    },
    options,
    ports,
  );
  if (decided.kind === "allowed") return decided;
  const { reason } = decided;
  throw new OrchestratorError(
    "refused",
    decided.code === "audit_failed" ? reason : `\`${path}\`: ${reason}. Nothing was done.`,
  );
}
