import { type ChildProcessByStdio, spawn } from "node:child_process";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock, waitAtMost } from "@codex/clock";
import { messageOf } from "@codex/telemetry";
import { END_GRACE_MS, KILL_GRACE_MS, LAST_WORDS_BYTES, MAX_LOGGED_LINE_LENGTH } from "../limits.js";
import { LinkError } from "./link-error.js";

/** A program that speaks on its stdin and stdout. No shell reads it. */
export interface ChildCommand {
  program: string;
  args?: readonly string[];
  /** Absolute. */
  cwd?: string | undefined;
  /** The complete environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Called with each line that it writes to stderr, cut where it is long. */
  onLine?: ((line: string) => void) | undefined;
  /** Whether it leads a group of its own, which ends with it. Default true. */
  ownGroup?: boolean;
  clock?: Pick<Clock, "after">;
}

/** A started program. Its owner ends it with `end`. */
export class Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended, such as `exited with code 3`. Never rejects. */
  readonly exited: Promise<string>;
  /** Its exit code; undefined while it runs, and when a signal ended it. */
  exitCode: number | undefined;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #command: ChildCommand;
  #lastWords = Buffer.alloc(0);
  #line = "";
  #ending: Promise<void> | undefined;

  /** @throws LinkError `program_failed`, or the reason of `signal` */
  static async start(command: ChildCommand, signal?: AbortSignal): Promise<Child> {
    const { program, args = [], cwd, env, ownGroup = true } = command;
    signal?.throwIfAborted();
    const options = { ...(cwd === undefined ? {} : { cwd }), env: { ...env }, detached: ownGroup };
    try {
      const started = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
      const child = new Child(started, command);
      await new Promise<void>((resolve, reject) => {
        started.once("spawn", resolve);
        started.once("error", reject);
      });
      started.on("error", () => {}); // such as a signal that could not be sent; the exit is what counts
      return child;
    } catch (cause) {
      throw new LinkError("program_failed", `\`${program}\` could not be started: ${explain(cause, cwd)}`);
    }
  }

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, command: ChildCommand) {
    this.#child = child;
    this.#command = command;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.exitCode = code ?? undefined;
        resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
      });
    });
    child.stdin.on("error", () => {}); // the end of stdout is what counts
    child.stderr.on("data", (bytes: Buffer) => this.#takeStderr(bytes)).on("error", () => {});
    void this.exited.then(() => this.#endRest());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The end of what it wrote to stderr; empty when it wrote nothing. */
  get lastWords(): string {
    return this.#lastWords.toString("utf8").trim();
  }

  /** Whether it has ended, or does within `ms` milliseconds. */
  async exitsWithin(ms: number): Promise<boolean> {
    const ended = this.exited.then(() => true);
    return (await waitAtMost(this.#command.clock ?? systemClock, ms, ended)) ?? false;
  }

  /**
   * Ends its stdin, then sends SIGTERM and SIGKILL to its group. Resolves after its exit. Idempotent; never rejects.
   * @param graceMs milliseconds between the end of its stdin and SIGTERM, at the first call
   */
  end(graceMs: number = END_GRACE_MS): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<void> {
    this.stdin.destroy();
    // What it still writes must not keep it from ending.
    this.stdout.resume();
    if (!(await this.exitsWithin(graceMs))) {
      this.#signal("SIGTERM");
      if (!(await this.exitsWithin(KILL_GRACE_MS))) this.#signal("SIGKILL");
    }
    await this.exited;
    this.stdout.destroy();
    this.#child.stderr.destroy();
  }

  /** Nobody can speak with what a program has left in its group, and it may hold the pipes open. */
  #endRest(): void {
    if (this.#command.ownGroup === false || !this.#signal("SIGTERM")) return;
    (this.#command.clock ?? systemClock).after(KILL_GRACE_MS, () => this.#signal("SIGKILL"));
  }

  /** To the whole group: the program may be a wrapper. False when nothing is left. */
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
    this.#lastWords = Buffer.concat([this.#lastWords, bytes]).subarray(-LAST_WORDS_BYTES);
    const { onLine } = this.#command;
    if (onLine === undefined) return;
    const lines = (this.#line + bytes.toString("utf8")).split("\n");
    this.#line = lines.pop()!.slice(0, MAX_LOGGED_LINE_LENGTH);
    for (const line of lines) onLine(line.slice(0, MAX_LOGGED_LINE_LENGTH));
  }
}

/** Node names the program also where the directory is what is missing. */
function explain(cause: unknown, cwd: string | undefined): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code !== "ENOENT") return messageOf(cause);
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return `there is no directory ${cwd}`;
  }
  return "there is no such program";
}
