import {
  type ClientApp,
  type CreateTerminalRequest,
  methods,
  RequestError,
  type TerminalExitStatus,
  type TerminalOutputResponse,
} from "@agentclientprotocol/sdk";
import type { LiveOutput, Orchestrator, RunOutcome, StartedCommand } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { KeptOutput } from "./kept-output.js";
import { MAX_OUTPUT_BYTES, MAX_TERMINALS, OUTPUT_BYTES } from "./limits.js";

/** Options of `acpTerminals`. */
export interface AcpTerminalsOptions {
  /** Environment to use. Default: the orchestrator's first. */
  environment?: string;
  /** Default working directory of commands: an absolute path on the environment's host. */
  cwd?: string;
  /** Client name, where several clients share the orchestrator. */
  client?: string;
  /** Run commands in a pseudoterminal. Default false: on pipes. */
  tty?: boolean;
  /** Called with output as it arrives, in order. If it returns a promise, the program is paused until that settles. */
  onOutput?: (output: LiveOutput & { terminalId: string }) => unknown;
}

/** Identifies a terminal. */
export interface TerminalRequest {
  sessionId: string;
  terminalId: string;
}

/**
 * The five terminal methods of an ACP client, version 1. A terminal can be used only by the ACP session that created it. They throw a
 * RequestError: −32002 for an unknown terminal, −32603 with the reason when a command was not run or its outcome is unknown.
 */
export interface AcpTerminals {
  /** Resolves when the command has started. */
  create(request: CreateTerminalRequest): Promise<{ terminalId: string }>;
  /** The last output so far and, once the command has ended, how. */
  output(request: TerminalRequest): Promise<TerminalOutputResponse>;
  waitForExit(request: TerminalRequest): Promise<TerminalExitStatus>;
  /** Sends SIGTERM, and SIGKILL after 2 s. The terminal can still be read. */
  kill(request: TerminalRequest): Promise<void>;
  /** Kills the command, and removes the terminal. */
  release(request: TerminalRequest): Promise<void>;
  /** Adds the five handlers to a client: `terminals.addTo(client({ name: "editor" }))`. */
  addTo(app: Pick<ClientApp, "onRequest">): void;
  /** Releases all terminals. Resolves when their commands have ended. */
  dispose(): Promise<void>;
}

interface Terminal {
  sessionId: string;
  command: StartedCommand;
  kept: KeptOutput;
  abort: AbortController;
  outcome: RunOutcome | undefined;
}

/** Terminals on an executor, for the agents of an ACP client. The orchestrator's policy and approver apply to their commands. */
export function acpTerminals(
  orchestrator: Pick<Orchestrator, "startCommand">,
  options: AcpTerminalsOptions = {},
): AcpTerminals {
  const terminals = new Map<string, Terminal>();
  let count = 0;
  const find = ({ sessionId, terminalId }: TerminalRequest): Terminal => {
    const terminal = terminals.get(terminalId);
    if (terminal?.sessionId === sessionId) return terminal;
    throw RequestError.resourceNotFound(terminalId);
  };
  const own: AcpTerminals = {
    async create(request) {
      if (terminals.size >= MAX_TERMINALS) {
        throw failure(
          `${terminals.size} terminals are not released (limit ${MAX_TERMINALS} terminals)`,
          "too_many_terminals",
        );
      }
      const terminalId = `terminal-${++count}`;
      const terminal = start(orchestrator, request, options, terminalId);
      terminals.set(terminalId, terminal);
      const started = await terminal.command.started;
      if (started.kind === "started") return { terminalId };
      terminals.delete(terminalId);
      if (started.kind === "refused") throw failure(started.result.text, started.result.structured.code);
      throw failure(started.reason, started.kind === "failed" ? (started.code ?? "failed_to_start") : "lost");
    },
    async output(request) {
      const { kept, outcome } = find(request);
      const end = outcome?.kind === "ended" ? { exitStatus: toExitStatus(outcome) } : {};
      return { output: kept.read(), truncated: kept.isTruncated, ...end };
    },
    waitForExit: async (request) => toExitStatus(await find(request).command.ended),
    async kill(request) {
      find(request).abort.abort();
    },
    async release(request) {
      const { abort } = find(request);
      terminals.delete(request.terminalId);
      abort.abort();
    },
    addTo(app) {
      const { terminal } = methods.client;
      app.onRequest(terminal.create, ({ params }) => own.create(params));
      app.onRequest(terminal.output, ({ params }) => own.output(params));
      app.onRequest(terminal.waitForExit, ({ params }) => own.waitForExit(params));
      app.onRequest(terminal.kill, ({ params }) => own.kill(params));
      app.onRequest(terminal.release, ({ params }) => own.release(params));
    },
    async dispose() {
      const all = [...terminals.values()];
      terminals.clear();
      for (const { abort } of all) abort.abort();
      await Promise.all(all.map(({ command }) => command.ended));
    },
  };
  return own;
}

function start(
  orchestrator: Pick<Orchestrator, "startCommand">,
  { sessionId, command: program, args = [], env = [], cwd, outputByteLimit }: CreateTerminalRequest,
  { environment, cwd: defaultCwd, client, tty = false, onOutput }: AcpTerminalsOptions,
  terminalId: string,
): Terminal {
  const kept = new KeptOutput(Math.min(outputByteLimit ?? OUTPUT_BYTES, MAX_OUTPUT_BYTES));
  const abort = new AbortController();
  const directory = cwd ?? defaultCwd;
  const command = orchestrator.startCommand(
    {
      argv: [program, ...args],
      env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      tty,
      ...defined({ cwd: directory, environment }),
    },
    {
      signal: abort.signal,
      ...defined({ client }),
      onOutput(output) {
        if (output.dropped !== undefined) kept.markGap(output.dropped);
        kept.add(output.bytes);
        return onOutput?.({ ...output, terminalId });
      },
    },
  );
  const terminal: Terminal = { sessionId, command, kept, abort, outcome: undefined };
  void command.ended.then((outcome) => {
    terminal.outcome = outcome;
  });
  return terminal;
}

/** @throws RequestError when it is unknown how the command ended: no exit code is invented */
function toExitStatus(outcome: RunOutcome): TerminalExitStatus {
  if (outcome.kind === "refused") throw failure(outcome.reason, outcome.code ?? "refused");
  if (outcome.kind === "lost") throw failure(outcome.reason, "lost");
  const { outcome: end } = outcome;
  switch (end.kind) {
    case "exited":
      return { exitCode: end.code, signal: null };
    case "signaled":
      return { exitCode: null, signal: end.signal };
    case "failed_to_start":
    case "lost":
      throw failure(end.reason, end.kind);
    case "running":
      throw failure("it was followed no further", "lost");
  }
}

const failure = (reason: string, code: string) => new RequestError(-32603, reason, { code });
