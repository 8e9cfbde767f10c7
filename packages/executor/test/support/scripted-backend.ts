import type { Clock } from "@codex/clock";
import {
  createOutputLog,
  type ExecBackend,
  type ExecProcess,
  type GateState,
  type InputWait,
  type OutputLogLimits,
  ProcessError,
  type ProcessSignal,
  type ProcessSpec,
  type SandboxDenial,
  type TerminateOptions,
  type TerminationReceipt,
  type WritableOutputLog,
  WriteError,
} from "@codex/exec-backend";
import type { OutputStream, ProcessOutcome, TerminalSize } from "@codex/executor-protocol";

/** A process that does what a test says, when the test says it. */
export class ScriptedProcess implements ExecProcess {
  readonly pid = 4242;
  readonly startedAt: number;
  readonly log: WritableOutputLog;
  readonly exited: Promise<ProcessOutcome>;
  readonly closed: Promise<void>;
  outcome: ProcessOutcome = { kind: "running" };
  denial: SandboxDenial | undefined;
  gate: GateState | undefined;
  /** What was written, signalled and so on, in order. */
  readonly events: string[] = [];
  disposed = false;
  paused = false;
  /** Writes wait until the test takes them. */
  holdWrites = false;
  /** What the host sees when it looks whether the program waits for input; undefined where it cannot. */
  inputWait: InputWait | undefined;
  /** How often it has looked. */
  looks = 0;
  /** What terminate does; default: the process dies of SIGTERM at once. */
  onTerminate: ((options: TerminateOptions) => Promise<void> | void) | undefined;
  readonly #held: { bytes: Buffer; resolve(): void; reject(error: Error): void }[] = [];
  #resolveExited!: (outcome: ProcessOutcome) => void;
  #resolveClosed!: () => void;

  constructor(
    readonly spec: ProcessSpec,
    clock: Clock,
    limits: Partial<OutputLogLimits>,
  ) {
    this.startedAt = clock.now();
    const all = { headBytes: 512 * 1024, tailBytes: 512 * 1024, spillBytes: 0, spillDir: "/nowhere", ...limits };
    const onPressure = (pause: boolean) => {
      this.paused = pause;
    };
    this.log = createOutputLog({ ...all, ...spec.log }, onPressure, () => clock.now());
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  print(text: string | Uint8Array, stream: OutputStream = this.spec.stdio.kind === "pty" ? "pty" : "stdout"): void {
    this.log.append(stream, Buffer.from(text as string)); // overloads take both, but not their union
  }

  /** The status is known; the streams are still open. */
  exit(outcome: ProcessOutcome | number = 0): void {
    if (this.outcome.kind !== "running") return;
    this.outcome = typeof outcome === "number" ? { kind: "exited", code: outcome } : outcome;
    this.#resolveExited(this.outcome);
  }

  /** The output is complete. */
  close(): void {
    this.log.finish();
    this.#resolveClosed();
  }

  end(outcome: ProcessOutcome | number = 0): void {
    this.exit(outcome);
    this.close();
  }

  write(bytes: Uint8Array): Promise<void> {
    const text = Buffer.from(bytes).toString();
    if (!this.holdWrites) {
      this.events.push(`write ${text}`);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#held.push({ bytes: Buffer.from(bytes), resolve, reject });
    });
  }

  /** The program reads what waits. */
  takeWrites(): void {
    for (const { bytes, resolve } of this.#held.splice(0)) {
      this.events.push(`write ${bytes}`);
      resolve();
    }
  }

  /** The program stops reading after some bytes. */
  breakWrites(written: number, code: WriteError["code"] = "stdin_closed"): void {
    for (const { reject } of this.#held.splice(0)) reject(new WriteError(code, written, "the program went deaf"));
  }

  async getInputWait(): Promise<InputWait> {
    this.looks += 1;
    return this.inputWait ?? "unknown";
  }

  /** As behind an exec-server that cannot end the input of a program. */
  keepsStdin = false;

  async closeStdin(): Promise<void> {
    if (this.keepsStdin) throw new ProcessError("unsupported", "this host cannot close stdin");
    this.events.push("close stdin");
  }

  /** As behind an exec-server whose answer was lost. */
  losesSignals = false;

  async signal(name: ProcessSignal): Promise<boolean> {
    if (this.losesSignals) throw new ProcessError("unknown", `whether ${name} was sent is not known`);
    this.events.push(`signal ${name}`);
    return this.outcome.kind === "running";
  }

  async resize({ rows, cols }: TerminalSize): Promise<void> {
    if (this.spec.stdio.kind !== "pty") throw new ProcessError("no_terminal", "there is no terminal");
    this.events.push(`resize ${rows}x${cols}`);
  }

  async terminate(options: TerminateOptions = {}): Promise<TerminationReceipt> {
    const running = this.outcome.kind === "running";
    this.events.push(`terminate ${options.by}`);
    if (this.onTerminate !== undefined) await this.onTerminate(options);
    else this.end({ kind: "signaled", signal: "SIGTERM", by: options.by ?? "terminate" });
    const members = running ? [{ pid: this.pid, name: "scripted" }] : [];
    return { running, members, strays: [], signals: running ? ["SIGTERM"] : [], gone: true, outcome: this.outcome };
  }

  /** As behind an exec-server: asked whether all of the output has arrived. Set by a test. */
  hasReceivedAll?: () => Promise<boolean | undefined>;

  dispose(): void {
    this.disposed = true;
    this.log.close();
  }
}

export interface ScriptedBackend extends ExecBackend {
  readonly processes: readonly ScriptedProcess[];
  /** The n-th process, from 0, once it was started. */
  started(index: number): Promise<ScriptedProcess>;
  /** The next starts fail with this. */
  failWith: Error | undefined;
}

export function createScriptedBackend(clock: Clock, limits: Partial<OutputLogLimits> = {}): ScriptedBackend {
  const processes: ScriptedProcess[] = [];
  let wakers: (() => void)[] = [];
  return {
    processes,
    failWith: undefined,
    async started(index) {
      for (;;) {
        const process = processes[index];
        if (process !== undefined) return process;
        await new Promise<void>((resolve) => wakers.push(resolve));
      }
    },
    async start(spec) {
      if (this.failWith !== undefined) throw this.failWith;
      const process = new ScriptedProcess(spec, clock, limits);
      processes.push(process);
      for (const wake of wakers.splice(0)) wake();
      wakers = [];
      return process;
    },
    async close() {},
    async [Symbol.asyncDispose]() {},
  };
}
