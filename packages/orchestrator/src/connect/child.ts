import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { defined, messageOf, SecretFilter } from "@codex/values";
import { OrchestratorError } from "../errors.js";

/** A command that speaks the executor protocol on its stdin and stdout, such as `codex executor`. */
export interface StdioCommand {
  /** A program, looked up in `PATH`; started without a shell. */
  command: string;
  args?: readonly string[];
  /** Default: the directory of this process. */
  cwd?: string;
  /** The complete environment; default that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Called with the executor's stderr. Without it, the last 2 KiB are retained for error messages. */
  onStderr?: (bytes: Buffer) => void;
  /** Milliseconds in which it must exit after its stdin has ended. Default 5000. */
  endGraceMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. Default 2000. */
  killGraceMs?: number;
  /** Aborts starting it; has no effect once it has started. */
  signal?: AbortSignal;
}

/** A started executor process. Its owner ends it with `end`. */
export class ExecutorChild {
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #endGraceMs: number;
  readonly #killGraceMs: number;
  readonly #filter: SecretFilter;
  /** The end of its stderr, longer than what is shown by the reach of the filter. */
  #stderrTail = "";
  #ending: Promise<void> | undefined;

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, command: StdioCommand) {
    this.#child = child;
    this.#endGraceMs = command.endGraceMs ?? DEFAULT_END_GRACE_MS;
    this.#killGraceMs = command.killGraceMs ?? DEFAULT_KILL_GRACE_MS;
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) =>
        resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
      );
    });
    this.#filter = new SecretFilter(listSecrets(command.env ?? process.env), { urls: true });
    const decoder = new StringDecoder("utf8");
    child.stderr.on("data", (bytes: Buffer) => {
      this.#stderrTail = (this.#stderrTail + decoder.write(bytes)).slice(-(STDERR_TAIL_LENGTH + this.#filter.reach));
      command.onStderr?.(bytes);
    });
    child.stderr.on("error", () => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get streams(): { input: Readable; output: Writable } {
    return { input: this.#child.stdout, output: this.#child.stdin };
  }

  /** The end of its stderr, without secrets of its environment; may be empty. */
  get stderrTail(): string {
    return this.#filter.hideTail(this.#stderrTail, STDERR_TAIL_LENGTH).trim();
  }

  /** Ends its stdin, then after a grace sends SIGTERM to the group, then after another SIGKILL. Resolves after its exit. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#child.stdin.destroy();
    if (!(await this.exitsWithin(this.#endGraceMs))) {
      this.#signal("SIGTERM");
      if (!(await this.exitsWithin(this.#killGraceMs))) this.#signal("SIGKILL");
    }
    await this.exited;
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  async exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const inTime = this.exited.then(() => true);
    try {
      return await Promise.race([inTime, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Signals the whole group: the command may be a wrapper around the executor. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined && process.platform !== "win32") process.kill(-pid, signal);
      else this.#child.kill(signal);
    } catch {
      // Gone in the meantime.
    }
  }
}

const DEFAULT_END_GRACE_MS = 5_000;
const DEFAULT_KILL_GRACE_MS = 2_000;
/** Characters of stderr retained for the message when it exits unexpectedly. */
const STDERR_TAIL_LENGTH = 2_048;

/** Values of variables that may be secret, by their name; shorter ones are words. */
const listSecrets = (env: NonNullable<StdioCommand["env"]>): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= MIN_SECRET_LENGTH && /KEY|SECRET|TOKEN|PASSW|CREDENTIAL/i.test(name)
      ? [value]
      : [],
  );

const MIN_SECRET_LENGTH = 8;

/** @throws OrchestratorError `connect_failed` naming the command. */
export async function spawnExecutor(command: StdioCommand): Promise<ExecutorChild> {
  const failed = (cause: unknown) => {
    const where = command.cwd === undefined ? "" : ` in \`${command.cwd}\``;
    const reason = `executor command \`${command.command}\`${where} could not be started: ${messageOf(cause)}`;
    return new OrchestratorError("connect_failed", reason, { cause });
  };
  try {
    command.signal?.throwIfAborted();
    const child = spawn(command.command, [...(command.args ?? [])], {
      ...defined({ cwd: command.cwd }),
      env: command.env ?? process.env,
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own, so that it can be ended as a whole, and does not get a Ctrl-C of the user.
      detached: process.platform !== "win32",
    });
    await once(child, "spawn"); // or an error: without free descriptors it has no streams
    child.on("error", () => {});
    const owned = new ExecutorChild(child, command);
    if (command.signal?.aborted) {
      await owned.end();
      command.signal.throwIfAborted();
    }
    return owned;
  } catch (cause) {
    throw failed(cause);
  }
}
