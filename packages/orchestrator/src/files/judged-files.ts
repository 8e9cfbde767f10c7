import { sha256 } from "@codex/audit";
import type { ExecutorConnection } from "@codex/executor-client";
import type { Sandbox } from "@codex/executor-protocol";
import { evaluateFileChange, type FileChangeVerdict } from "@codex/policy";
import { messageOf } from "@codex/values";
import { digestQuestion } from "../approvals/binding.js";
import { createOwnRequest } from "../approvals/own-request.js";
import { beginOwnCall } from "../audit/own-call.js";
import type { SharedContext } from "../calls/call-tool.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { asOrchestratorErrors, OrchestratorError } from "../errors.js";
import { MAX_READ_FILE_BYTES } from "../limits.js";
import { chooseSandbox } from "../permit/choose-sandbox.js";
import { pathsOf, resolveDirectory } from "../resolve/directory.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import { getTurn } from "../resolve/turn.js";
import type { FileConnector, HostFiles } from "./file-connector.js";
import type { FileAccessOptions, OrchestratorFiles } from "./orchestrator-files.js";

/** One access to files, as shown to an approver and recorded in the audit log. */
interface Access {
  tool: "read_file" | "write_file" | "stat_file" | "list_files" | "remove_file";
  path: string;
  /** Further details that a decision covers. */
  details?: Record<string, unknown>;
}

/** The files of executors, connected when they are first used; the connections end with their executors. */
type Connect = (executor: ExecutorConnection) => Promise<HostFiles>;

/** @param untilReady waits for the executors of the options */
export function createFiles(
  context: SharedContext,
  untilReady: (signal: AbortSignal | undefined) => Promise<void>,
  connectFiles: FileConnector | undefined,
): OrchestratorFiles {
  const connect = createConnect(connectFiles);
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
  };
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
  context: SharedContext,
  connect: Connect,
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
  const permit = await permitAccess({ ...access, path }, place, options, context);
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

function createConnect(connectFiles: FileConnector | undefined): Connect {
  const connected = new WeakMap<ExecutorConnection, Promise<HostFiles>>();
  return async (executor) => {
    if (connectFiles === undefined) {
      throw new OrchestratorError(
        "unsupported",
        "this orchestrator cannot access files: its option `connectFiles` is missing",
      );
    }
    const known = connected.get(executor);
    if (known !== undefined) return known;
    const connecting = connectFiles((signal) => asOrchestratorErrors(executor.openExecServer(signal)));
    connected.set(executor, connecting);
    connecting.catch(() => connected.delete(executor));
    void executor.ended.then(async () => (await connecting.catch(() => undefined))?.close());
    return connecting;
  };
}

interface Place {
  executor: ExecutorConnection;
  cwd: string;
  workspaceRoots: readonly string[];
}

/** The sandbox of an access, and a function that reports its end. @throws OrchestratorError `refused` */
async function permitAccess(
  { tool, path, details = {} }: Access,
  { executor, cwd, workspaceRoots }: Place,
  { signal, approver: ownApprover, client }: FileAccessOptions,
  context: SharedContext,
): Promise<{ sandbox: Sandbox | null; ended: (isDone: boolean) => void }> {
  const { name } = executor;
  const record = beginOwnCall(context.auditor, { tool, environment: name, args: { path, ...details } });
  const refuse = (code: Parameters<typeof record.refused>[0], reason: string): never => {
    record.refused(code, reason);
    throw new OrchestratorError("refused", `\`${path}\`: ${reason}. Nothing was done.`);
  };
  const { policy, approver } = context.rulingOf(name);
  const request = { cwd, sandboxPermissions: "use_default" as const, additionalPermissions: null };
  const chosen = chooseSandbox(executor, { request, workspaceRoots }, false, policy);
  if (chosen.kind === "refused") return refuse("sandbox_unavailable", chosen.reason);
  let sandbox = chosen.sandbox ?? null;
  const isChange = tool === "write_file" || tool === "remove_file";
  const { approvalPolicy } = policy;
  const verdict: FileChangeVerdict = isChange
    ? evaluateFileChange({ paths: [path], approvalPolicy, sandbox, subject: "change" })
    : { kind: "allow" };
  record.judged(verdict);
  if (verdict.kind === "refuse") return refuse("forbidden", verdict.reason);
  if (verdict.kind === "ask") {
    const command = [tool, path, JSON.stringify(details)];
    const { reason } = verdict;
    const id = context.newId();
    const question = createOwnRequest({ id, toolName: tool, environment: name, command, cwd, reason });
    const closing = signal === undefined ? context.closing : AbortSignal.any([signal, context.closing]);
    const terms = { canonical: [tool, path], digest: digestQuestion(question), signal: closing, client };
    const answer = await context.approvals.decide(question, terms, ownApprover ?? approver);
    record.decided(question.id, answer);
    if (answer.kind === "denied") return refuse("denied", `${answer.reason} (asked because ${verdict.reason})`);
    if (answer.kind === "cancelled") return refuse("cancelled", `the ${answer.by} ended the turn`);
    if (answer.kind !== "approved") return refuse("interrupted", "it was cancelled before there was a decision");
    // Permitted changes are made in the sandbox as well.
    const inSandbox = evaluateFileChange({ paths: [path], approvalPolicy: "never", sandbox }).kind === "allow";
    if (!inSandbox) sandbox = null;
  }
  const unrecorded = await record.starting(sandbox);
  if (unrecorded !== undefined) throw new OrchestratorError("refused", unrecorded);
  return { sandbox, ended: record.ended };
}
