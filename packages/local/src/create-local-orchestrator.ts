import { createMemoryChannelPair } from "@codex/channel";
import { connectFiles } from "@codex/environments";
import { createExecutor, type ExecutorOptions, type ExecutorTool, type HostedExecServer } from "@codex/executor";
import {
  createOrchestrator,
  type Orchestrator,
  OrchestratorError,
  type OrchestratorOptions,
} from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { createLocalBackend } from "@codex/process-host";
import { VERSION } from "./version.js";

/** The options of an orchestrator, and those of the executor that it gets. Everything has a default. */
export interface LocalOrchestratorOptions extends Omit<OrchestratorOptions, "policy"> {
  /**
   * Default `{ approvalPolicy: "on-request" }`: commands can read but not write, have no network, and ask `approver` for
   * more; without an approver more is denied. `sandbox: "workspace-write"` lets them write in the directory of a call.
   */
  policy?: PolicyOptions;
  /** Name of the executor of this process, which models see as an environment; default `local`. */
  name?: string;
  /** Tools in addition to those for commands and sessions, such as those of `defineTool` of `@codex/executor`. */
  tools?: readonly ExecutorTool[];
  /** Everything else about the executor of this process. */
  executor?: Omit<ExecutorOptions, "backend" | "tools" | "resumeGraceMs">;
}

const DEFAULT_POLICY: PolicyOptions = { approvalPolicy: "on-request" };

/**
 * Creates an orchestrator whose commands run on this host, in this process: a process host, an executor, a channel in
 * memory and the orchestrator. Resolves when tools can be called. `close` ends all of it with every process that was
 * started; so does the death of this process.
 *
 * ```ts
 * const orchestrator = await createLocalOrchestrator({ policy: { approvalPolicy: "on-request", sandbox: "workspace-write" } });
 * const { text } = await orchestrator.callTool("exec_command", { cmd: "make test" });
 * await orchestrator.close();
 * ```
 * @throws OrchestratorError `bad_option` naming the option, or the tool and the limit it exceeds, and what attaching one of `executors` rejects with
 * @throws RangeError for a limit of the executor, Error for two tools of one name
 */
export async function createLocalOrchestrator(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const {
    policy = DEFAULT_POLICY,
    name = "local",
    tools = [],
    executor: executorOptions,
    executors = [],
    ...rest
  } = options;
  const backend = createLocalBackend();
  const [channel, far] = createMemoryChannelPair();
  let served: Promise<void> | undefined;
  let orchestrator: Orchestrator | undefined;
  const close = async () => {
    await orchestrator?.close();
    await channel.close();
    await served;
    await backend.close();
  };
  try {
    const executor = createExecutor({ execServer: createFileServer, ...executorOptions, backend, tools });
    // A channel in memory is never lost, so there is nothing to resume.
    served = executor.serve(far, { resumable: false });
    orchestrator = createOrchestrator({ connectFiles, ...rest, policy, executors: [{ name, channel }, ...executors] });
    await orchestrator.ready;
    checkTools(tools, orchestrator, name);
    return ownedBy(orchestrator, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Created when files are first accessed. */
async function createFileServer(): Promise<HostedExecServer> {
  const { createEnvironmentInfo, createExecServer } = await import("@codex/exec-server");
  const backend = createLocalBackend();
  const info = await createEnvironmentInfo({ executorVersion: VERSION });
  const server = createExecServer({ backend, environment: { info } });
  return {
    serve: (channel) => server.serve(channel, { transport: { kind: "socket", peer: "a tunnel" } }),
    async close() {
      await server.close();
      await backend.close();
    },
  };
}

/** @throws OrchestratorError for tools that the orchestrator omits or truncates, as it does with those of any executor. */
function checkTools(tools: readonly ExecutorTool[], orchestrator: Orchestrator, executorName: string): void {
  const offered = new Map(orchestrator.listTools().map(({ name, description }) => [name, description]));
  if (tools.every(({ spec }) => offered.get(spec.name) === spec.description)) return;
  const problems = orchestrator.executors.find(({ name }) => name === executorName)?.problems ?? [];
  const reasons = problems.flatMap(({ kind, detail }) => (kind === "invalid_tool" ? [detail] : []));
  if (reasons.length === 0 && tools.every(({ spec }) => offered.has(spec.name))) return;
  throw new OrchestratorError("bad_option", `tools: ${reasons.join("; ")}`);
}

/** The orchestrator, whose `close` also closes what was created for it. */
function ownedBy(orchestrator: Orchestrator, close: () => Promise<void>): Orchestrator {
  let closing: Promise<void> | undefined;
  const closeAll = () => {
    closing ??= close();
    return closing;
  };
  return {
    ready: orchestrator.ready,
    get executors() {
      return orchestrator.executors;
    },
    approvers: orchestrator.approvers,
    observe: (observer) => orchestrator.observe(observer),
    attach: (attached) => orchestrator.attach(attached),
    detach: (name) => orchestrator.detach(name),
    addEnvironment: (environment, environmentOptions) => orchestrator.addEnvironment(environment, environmentOptions),
    listEnvironments: (selection) => orchestrator.listEnvironments(selection),
    connectEnvironment: (id, signal) => orchestrator.connectEnvironment(id, signal),
    createConversation: (conversation) => orchestrator.createConversation(conversation),
    listTools: (listOptions) => orchestrator.listTools(listOptions),
    callTool: (tool, args, callOptions) => orchestrator.callTool(tool, args, callOptions),
    judge: (tool, args, callOptions) => orchestrator.judge(tool, args, callOptions),
    startCall: (tool, args, callOptions) => orchestrator.startCall(tool, args, callOptions),
    files: orchestrator.files,
    startCommand: (request, startOptions) => orchestrator.startCommand(request, startOptions),
    runCommand: (request, runOptions) => orchestrator.runCommand(request, runOptions),
    startDetached: (request, place) => orchestrator.startDetached(request, place),
    openSessionInput: (sessionId, place) => orchestrator.openSessionInput(sessionId, place),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
}
