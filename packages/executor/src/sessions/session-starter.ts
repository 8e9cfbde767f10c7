import { randomUUID } from "node:crypto";
import type { Clock } from "@codex/clock";
import type { ExecBackend, NetworkSpec, ProcessSpec, ProcessStdio } from "@codex/exec-backend";
import { createEnvironment, StartError, UnknownStartError } from "@codex/exec-backend";
import type { ExecCommandRequest, Sandbox } from "@codex/executor-protocol";
import { defined, messageOf } from "@codex/values";
import { ToolError } from "../errors.js";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import { CANCELLED_START_MS, type ExecutorLimits } from "../limits.js";
import type { LiveReceiver } from "../output/live-output.js";
import { getRetention } from "../output/retention.js";
import type { CallScope } from "./call-scope.js";
import { Session } from "./session.js";
import { SessionQuestions } from "./session-questions.js";
import { SessionReports } from "./session-reports.js";
import { ShellStartups } from "./shell-startup.js";

export interface SessionStarterOptions {
  backend: ExecBackend;
  /** The executor's own environment, which an `envPolicy` filters. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  limits: Pick<ExecutorLimits, "log">;
  telemetry: Pick<ExecutorTelemetry, "log">;
  /** Receives the live output of the sessions. */
  receiver: LiveReceiver;
  /** Sends questions about programs, and takes them back. */
  sendQuestion: ConstructorParameters<typeof SessionQuestions>[1];
  sendReport: ConstructorParameters<typeof SessionReports>[1];
}

/** It is unknown whether the command was started. */
export class UnknownStart extends Error {
  constructor(cause: unknown) {
    super(`it is unknown whether it was started: ${messageOf(cause)}`, { cause });
  }
}

/** Starts the process of a request as a session. Owns the shell snapshots until `close`. */
export class SessionStarter {
  readonly #options: SessionStarterOptions;
  readonly #shellStartups: ShellStartups;
  /** Of its managed networks. */
  readonly #scope = randomUUID();
  /** Gives up each start that waits for its host. */
  readonly #waiting = new Set<AbortController>();
  #isClosed = false;

  constructor(options: SessionStarterOptions) {
    this.#options = options;
    this.#shellStartups = new ShellStartups(options.backend, options.env);
  }

  /**
   * @param id of the session
   * @throws ToolError when the command was not run
   * @throws UnknownStart when it may have been run
   */
  async start(
    id: number,
    request: ExecCommandRequest,
    { requestId, trace, client, signal }: Pick<CallScope, "requestId" | "trace" | "client" | "signal">,
  ): Promise<Session> {
    const { clock, limits, receiver, telemetry } = this.#options;
    const stdio = getStdio(request);
    const retention = getRetention(limits.log, request.whenFull, receiver);
    const questions = new SessionQuestions(id, this.#options.sendQuestion);
    const programQuestions = questions.forGate(request.execGate);
    const reportKey = request.network?.reports;
    const reports =
      reportKey === undefined ? undefined : new SessionReports(reportKey, this.#options.sendReport, clock);
    const { onDecision, onEnd } = reports ?? {};
    const listening: Listening = { questions: questions.forNetwork(request.network), onDecision, onEnd };
    const given = { stdio, log: retention.chosen, trace, programQuestions };
    const { process, startup } = await this.#spawn(request, given, listening, signal);
    telemetry.log.info?.("session started", { requestId, sessionId: id, pid: process.pid });
    void process.exited.then(() => {
      const problem = process.log.spillProblem;
      if (problem !== undefined) telemetry.log.warn?.("output was not kept on disk", { sessionId: id, problem });
    });
    const { command, cwd, whenFull } = request;
    return new Session({
      id,
      process,
      command,
      cwd,
      stdio,
      clock,
      receiver,
      retention,
      whenFull,
      startup,
      client,
      questions,
      reports,
    });
  }

  /** Gives up the starts that wait for their host, and removes the shell snapshots. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const start of this.#waiting) start.abort();
    return this.#shellStartups.close();
  }

  async #spawn(
    request: ExecCommandRequest,
    given: Pick<ProcessSpec, "stdio" | "log" | "trace" | "programQuestions">,
    listening: Listening,
    signal: AbortSignal,
  ) {
    const { backend, env: own } = this.#options;
    const { command: argv, cwd } = request;
    // A remote host applies the policy to its own environment.
    const environment =
      backend.appliesEnvPolicy && request.envPolicy !== undefined
        ? { env: request.env, envPolicy: request.envPolicy }
        : { env: createEnvironment(request.envPolicy, own, request.env) };
    const sandboxed = hasSandbox(request) ? { sandbox: request.sandbox } : {};
    if (request.execGate !== undefined && !backend.takesGate) {
      throw new ToolError("the rules for programs cannot be held on this host; the command was not run");
    }
    if (request.network !== undefined && !backend.takesNetwork) {
      throw new ToolError("a managed network cannot be held on this host; the command was not run");
    }
    const network = request.network && { ...request.network, ...listening, scope: this.#scope };
    const held = defined({ gate: request.execGate, network, limits: request.limits });
    if (request.limits !== undefined && !backend.takesLimits) {
      throw new ToolError("limits of what a command uses cannot be held on this host; the command was not run");
    }
    const requested: ProcessSpec = { argv, cwd, ...environment, ...sandboxed, ...held, ...given };
    const { spec, note } = await this.#shellStartups.apply(request, requested);
    const cancelled = this.#delayAbort(signal);
    try {
      return { process: await backend.start(spec, cancelled.signal), startup: note };
    } catch (error) {
      if (error instanceof UnknownStartError) throw new UnknownStart(error);
      const named = error instanceof StartError ? { code: error.code } : {};
      const hint = error instanceof StartError ? getStartHint(error, argv) : "";
      throw new ToolError(`the command was not run: ${messageOf(error)}${hint}`, { cause: error, ...named });
    } finally {
      cancelled.end();
    }
  }

  /** Cancelling a call ends its wait, not its command: a start is given up only if its host cannot be reached for a while. */
  #delayAbort(call: AbortSignal) {
    const delayed = new AbortController();
    let stopTimer = () => {};
    const onAbort = () => {
      stopTimer = this.#options.clock.after(CANCELLED_START_MS, () => delayed.abort());
    };
    if (this.#isClosed) delayed.abort();
    else if (call.aborted) onAbort();
    call.addEventListener("abort", onAbort, { once: true });
    this.#waiting.add(delayed);
    const end = () => {
      this.#waiting.delete(delayed);
      call.removeEventListener("abort", onAbort);
      stopTimer();
    };
    return { signal: delayed.signal, end };
  }
}

/** With the permissions `disabled` no sandbox is needed. */
const hasSandbox = (request: ExecCommandRequest): request is ExecCommandRequest & { sandbox: Sandbox } =>
  request.sandbox !== undefined && request.sandbox !== null && request.sandbox.permissions.type !== "disabled";

function getStdio({ tty, size, stdin }: ExecCommandRequest): ProcessStdio {
  if (!tty) return { kind: "pipe", stdin: stdin ?? "null" };
  return size === undefined ? { kind: "pty" } : { kind: "pty", size };
}

/** Advice after a failure to start. */
function getStartHint({ code }: StartError, [program = ""]: readonly string[]): string {
  // Such as `codex run 'cd src && make'`, which ssh would give to a shell.
  if (code === "program_not_found" && /\s/.test(program)) return "; a script needs a shell: sh -c SCRIPT";
  return START_HINTS[code] ?? "";
}

const START_HINTS: Readonly<Partial<Record<string, string>>> = {
  cwd_not_absolute: "; give an absolute path",
  cwd_not_found: "; choose a directory that exists",
  cwd_not_directory: "; choose a directory",
  program_not_found: "; check its name, or install it",
};

/** Who is asked and told about the network of a process. */
type Listening = Required<Pick<NetworkSpec, "questions" | "onDecision" | "onEnd">>;
