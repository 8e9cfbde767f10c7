import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { FreeName, WrappedCommand } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import type { FileSystemLimits } from "../limits.js";
import { type CallHeader, type FileMethod, packParams, type ResponseHeader, unpackResult } from "./calls.js";
import { encodeFrame, type Frame, FrameReader } from "./frames.js";
import { HELPER_END_MS, MAX_STDERR_CHARS } from "./limits.js";

interface Waiting {
  method: FileMethod;
  /** What was free when the call began: whatever is there at its end was not made by others before it. */
  free: readonly FreeName[];
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A process inside a sandbox that makes file calls there. Owns the resources of the wrapped command. */
export class Helper {
  readonly #child: ChildProcess;
  readonly #held: readonly { path: string; identity: string }[];
  readonly #freeNames: readonly FreeName[];
  /** Names that calls without an answer may have created. */
  #unchecked: readonly FreeName[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #failure = "";
  #ended = false;
  /** Resolves when no process of the sandbox is left and its reserved paths are released. Never rejects. */
  readonly closed: Promise<void>;

  constructor(wrapped: WrappedCommand, limits: FileSystemLimits) {
    this.#freeNames = wrapped.freeNames;
    try {
      this.#held = wrapped.reservedPaths.map((path) => ({ path, identity: identify(path) }));
      // Not in our process group: a Ctrl-C at our terminal is for the server.
      this.#child = spawn(wrapped.file, wrapped.args, {
        cwd: wrapped.cwd,
        env: wrapped.env,
        stdio: ["pipe", "pipe", "pipe", ...wrapped.descriptors],
        detached: true,
      });
    } finally {
      wrapped.detach();
    }
    this.closed = this.#follow(wrapped);
    const reader = new FrameReader(Math.max(limits.maxReadFileBytes, MIN_BODY_BYTES));
    // Without free descriptors there is an error, and no streams.
    this.#child.stdout?.on("data", (bytes: Buffer) => this.#read(reader, bytes));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#failure = (this.#failure + text).slice(0, MAX_STDERR_CHARS);
    });
    this.#child.stdin?.on("error", () => {}); // the exit is what counts
    this.#send(limits, undefined);
  }

  /** False once it has ended, or a reserved path was removed, which others could create now. */
  get isUsable(): boolean {
    return !this.#ended && this.#held.every(({ path, identity }) => identify(path) === identity);
  }

  get reservesPaths(): boolean {
    return this.#held.length > 0;
  }

  call(method: FileMethod, params: object): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#endError());
    const id = ++this.#lastId;
    const { value, bytes } = packParams(method, params);
    const free = this.#freeNames.filter((name) => !name.isTaken());
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, free, resolve, reject });
      this.#send({ id, method, params: value } satisfies CallHeader, bytes);
    });
  }

  /** Closes its stdin so that it undoes unfinished calls, then kills it after a grace period. Idempotent; never rejects. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), HELPER_END_MS);
    await this.closed;
    clearTimeout(timer);
  }

  async #follow(wrapped: WrappedCommand): Promise<void> {
    this.#child.once("error", (error) => this.#fail(error.message));
    // At `exit`, before `close`: responses of a killed sandbox describe its end, not the outcome of the calls.
    this.#child.once("exit", (_code, signal) => signal !== null && this.#fail(`signal ${signal}`));
    await new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    this.#fail(`exit code ${this.#child.exitCode}`);
    clearNames(this.#unchecked);
    await wrapped.release();
  }

  /** The first reason is kept; stderr that came before takes precedence. */
  #fail(reason: string): void {
    this.#failure ||= reason;
    this.#ended = true;
    this.#unchecked = [...this.#unchecked, ...[...this.#waiting.values()].flatMap(({ free }) => free)];
    for (const { reject } of this.#waiting.values()) reject(this.#endError());
    this.#waiting.clear();
  }

  #send(header: unknown, body: Uint8Array | undefined): void {
    const { stdin } = this.#child;
    stdin?.cork();
    for (const piece of encodeFrame(header, body)) stdin?.write(piece);
    stdin?.uncork();
  }

  #read(reader: FrameReader, bytes: Buffer): void {
    try {
      for (const frame of reader.push(bytes)) this.#settle(frame);
    } catch (error) {
      this.#fail(messageOf(error));
      this.#child.kill("SIGKILL");
    }
  }

  #settle({ header, body }: Frame): void {
    const answer = header as ResponseHeader;
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.id);
    const problem = clearNames(waiting.free);
    if (problem !== undefined) waiting.reject(new RpcError(ERROR_CODES.internal, problem));
    else if ("error" in answer) waiting.reject(new RpcError(answer.error.code, answer.error.message));
    else waiting.resolve(unpackResult(waiting.method, { value: answer.result, bytes: body }));
  }

  #endError(): RpcError {
    const why = this.#failure.trim().split("\n", 1)[0];
    return new RpcError(
      ERROR_CODES.internal,
      `the helper that makes file calls in the sandbox has ended${why ? `: ${why}` : ""}`,
    );
  }
}

/** Undoes what a call has created and must not; returns what that was. */
function clearNames(names: readonly FreeName[]): string | undefined {
  const problems = names.map((name) => name.clear()).filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : `the sandbox lets no call create it: ${problems.join("; ")}`;
}

/** Lower bound of the frame limit, bytes: blocks must fit whatever the limit on files is. */
const MIN_BODY_BYTES = 16 * 1024 * 1024;

/** Changes when a path is replaced, even if the new file gets the same inode number, as on ext4. */
export function identify(path: string): string {
  const there = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (there === undefined) return "missing";
  const { dev, ino, birthtimeNs, ctimeNs } = there;
  // Without a birth time: the change time, except for directories, where it changes with each entry.
  const time = birthtimeNs || there.isDirectory() ? birthtimeNs : ctimeNs;
  return `${dev}:${ino}:${time}`;
}
