import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { type Clock, systemClock, waitAtMost } from "@codex/clock";
import type { SecretFilter } from "@codex/values";
import { defined, messageOf } from "@codex/values";
import { END_GRACE_MS, KILL_GRACE_MS, MAX_LOGGED_LINE_LENGTH, STDERR_DRAIN_MS, STDERR_TAIL_LENGTH } from "../limits.js";
import { LinkError } from "./link-error.js";
import { createFilter } from "./redact.js";

/** A program that communicates over its stdin and stdout. It is started without a shell. */
export interface ChildCommand {
  program: string;
  args?: readonly string[];
  /** Absolute. */
  cwd?: string | undefined;
  /** The complete environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Values that neither `onLine` nor `stderrTail` shows, nor the secret parts of URLs. */
  secrets?: readonly string[];
  /** Called with each stderr line; long lines are truncated. */
  onLine?: ((line: string) => void) | undefined;
  /** Whether it runs in its own process group, which is ended with it. Default true. */
  ownGroup?: boolean;
  clock?: Pick<Clock, "after">;
}

/** A started program. The owner must call `end`. */
export class Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended, such as `exited with code 3`, once its stderr was read, or after `STDERR_DRAIN_MS`. Never rejects. */
  readonly exited: Promise<string>;
  /** Its exit code; undefined while it runs, or if it was killed by a signal. */
  exitCode: number | undefined;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #command: ChildCommand;
  /** Like `exited`, but without waiting for stderr. */
  readonly #exit: Promise<string>;
  readonly #filter: SecretFilter;
  readonly #decoder = new StringDecoder("utf8");
  /** The end of its stderr, longer than what is shown by the reach of the filter. */
  #tail = "";
  #line = "";
  #ending: Promise<void> | undefined;

  /** @throws LinkError `program_failed`, or the reason of `signal` */
  static async start(command: ChildCommand, signal?: AbortSignal): Promise<Child> {
    const { program, args = [], cwd, env, ownGroup = true } = command;
    signal?.throwIfAborted();
    const options = { ...defined({ cwd }), env: { ...env }, detached: ownGroup };
    try {
      const started = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
      await once(started, "spawn"); // or an error: without free descriptors it has no streams
      started.on("error", () => {}); // such as a signal that could not be sent; the exit is what counts
      return new Child(started, command);
    } catch (cause) {
      const text = `\`${program}\` could not be started: ${explain(cause, cwd)}`;
      // Without free descriptors or memory, another attempt may succeed.
      throw new LinkError("program_failed", text, FINAL_CODES.has(String(errorCodeOf(cause))));
    }
  }

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, command: ChildCommand) {
    this.#child = child;
    this.#command = command;
    this.#filter = createFilter(command.secrets ?? []);
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.#exit = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.exitCode = code ?? undefined;
        resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
      });
    });
    const stderrRead = new Promise<void>((resolve) => void child.stderr.once("close", resolve));
    this.exited = this.#exit.then(async (how) => {
      await waitAtMost(command.clock ?? systemClock, STDERR_DRAIN_MS, stderrRead);
      return how;
    });
    child.stdin.on("error", () => {}); // the end of stdout is what counts
    child.stderr.on("data", (bytes: Buffer) => this.#takeStderr(bytes)).on("error", () => {});
    void this.#exit.then(() => this.#endRest());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The end of its stderr, without secrets; may be empty. */
  get stderrTail(): string {
    return this.#filter.hideTail(this.#tail, STDERR_TAIL_LENGTH).trim();
  }

  /** Whether it has exited, or exits within `ms` milliseconds. */
  async exitsWithin(ms: number): Promise<boolean> {
    const ended = this.#exit.then(() => true);
    return (await waitAtMost(this.#command.clock ?? systemClock, ms, ended)) ?? false;
  }

  /**
   * Closes its stdin, then sends SIGTERM and SIGKILL to its group. Resolves after its exit. Idempotent; never rejects.
   * @param graceMs milliseconds between closing its stdin and SIGTERM; only the first call's value counts
   */
  end(graceMs: number = END_GRACE_MS): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<void> {
    this.stdin.destroy();
    // Unread output must not prevent it from exiting.
    this.stdout.resume();
    if (!(await this.exitsWithin(graceMs))) {
      this.#signal("SIGTERM");
      if (!(await this.exitsWithin(KILL_GRACE_MS))) this.#signal("SIGKILL");
    }
    await this.#exit;
    this.stdout.destroy();
    this.#child.stderr.destroy();
  }

  /** Ends processes left in the group: they are unreachable and may keep the pipes open. */
  #endRest(): void {
    if (this.#command.ownGroup === false || !this.#signal("SIGTERM")) return;
    (this.#command.clock ?? systemClock).after(KILL_GRACE_MS, () => this.#signal("SIGKILL"));
  }

  /** Signals the whole group, because the program may be a wrapper. False if no process is left. */
  #signal(signal: NodeJS.Signals): boolean {
    const { pid } = this.#child;
    try {
      if (pid === undefined || this.#command.ownGroup === false) return this.#child.kill(signal);
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  }

  #takeStderr(bytes: Buffer): void {
    const text = this.#decoder.write(bytes);
    const { reach } = this.#filter;
    this.#tail = (this.#tail + text).slice(-(STDERR_TAIL_LENGTH + reach));
    const { onLine } = this.#command;
    if (onLine === undefined) return;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop()!.slice(0, MAX_LOGGED_LINE_LENGTH + reach);
    for (const line of lines) {
      onLine(this.#filter.hideHead(line, MAX_LOGGED_LINE_LENGTH));
    }
  }
}

/** There is no such program or directory, or it may not be run. */
const FINAL_CODES: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOTDIR"]);

const errorCodeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined);

/** Node's error names the program even if it is the directory that is missing. */
function explain(cause: unknown, cwd: string | undefined): string {
  if (errorCodeOf(cause) !== "ENOENT") return messageOf(cause);
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return `there is no directory ${cwd}`;
  }
  return "there is no such program";
}
