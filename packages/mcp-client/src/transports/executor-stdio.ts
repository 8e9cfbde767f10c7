import type { ProcessOutcome } from "@codex/executor-protocol";
import type { Orchestrator, StartCommandRequest, StartedCommand } from "@codex/orchestrator";
import { type StdioProcess, StdioTransport, type StdioTransportOptions } from "./stdio.js";

/** An MCP server that an executor runs. */
export interface ExecutorStdioServer
  extends Pick<StartCommandRequest, "environment" | "cwd" | "env" | "sandboxPermissions" | "justification"> {
  /** Program, looked up in the `PATH` of the executor's host unless it has a slash. */
  command: string;
  args?: readonly string[];
}

/**
 * A transport for the official MCP client over a program of an executor. The program is treated like a command of a model: policy,
 * approval and sandbox apply. One that is not started is reported to `onerror`, with the reason.
 *
 * ```ts
 * const client = new Client({ name: "app", version: "1.0.0" });
 * await client.connect(executorStdio(orchestrator, { command: "uvx", args: ["mcp-server-git"], environment: "build-1" }));
 * ```
 */
export function executorStdio(
  orchestrator: Pick<Orchestrator, "startCommand">,
  { command, args = [], ...request }: ExecutorStdioServer,
  options: Pick<StdioTransportOptions, "onStderr" | "clock"> = {},
): StdioTransport {
  const start = async (_spec: unknown, signal: AbortSignal): Promise<StdioProcess> => {
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(), { once: true });
    const program = orchestrator.startCommand(
      { ...request, argv: [command, ...args], stdin: "open" },
      { signal: abort.signal },
    );
    const started = await program.started;
    if (started.kind === "started") return toProcess(program, abort);
    throw new Error(started.kind === "refused" ? started.result.text : started.reason);
  };
  return new StdioTransport({ command, args, cwd: "" }, { ...options, backend: { start, appliesEnvPolicy: true } });
}

function toProcess(program: StartedCommand, abort: AbortController): StdioProcess {
  let outcome: ProcessOutcome = { kind: "running" };
  const ended = program.ended.then((end) => {
    outcome = end.kind === "ended" ? end.outcome : { kind: "lost", reason: end.reason, lastSeq: 0 };
  });
  return {
    get outcome() {
      return outcome;
    },
    exited: ended,
    closed: ended,
    log: { follow: () => program.output },
    write: (bytes) => program.write(bytes),
    closeStdin: () => program.closeStdin(),
    async terminate() {
      // Sends SIGTERM, and SIGKILL 2 s later.
      abort.abort();
      await ended;
    },
    dispose() {},
  };
}
