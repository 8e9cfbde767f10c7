import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { WrappedCommand } from "@codex/sandbox";
import type { FileSystemLimits } from "../limits.js";
import { type AnswerHeader, type CallHeader, type FileMethod, packParams, unpackResult } from "./calls.js";
import { encodeFrame, type Frame, FrameReader } from "./frames.js";
import { HELPER_END_MS, MAX_COMPLAINT } from "./limits.js";

interface Waiting {
  method: FileMethod;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A process in a sandbox that makes file calls there. Owns what it is wrapped with. */
export class Helper {
  readonly #child: ChildProcess;
  readonly #held: readonly { path: string; identity: string }[];
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #complaint = "";
  #ended = false;
  /** Resolves when no process of the sandbox is left, and the names that it kept are free. Never rejects. */
  readonly closed: Promise<void>;

  constructor(wrapped: WrappedCommand, limits: FileSystemLimits) {
    this.#held = wrapped.reservedPaths.map((path) => ({ path, identity: identify(path) }));
    try {
      // Away from our terminal: a Ctrl-C there is for the server.
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
    this.#child.stdout!.on("data", (bytes: Buffer) => this.#read(reader, bytes));
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#complaint = (this.#complaint + text).slice(0, MAX_COMPLAINT);
    });
    this.#child.stdin!.on("error", () => {}); // its end tells
    this.#send(limits, undefined);
  }

  /** It ended, or names that it keeps have been taken away: others could make them now. */
  get isUsable(): boolean {
    return !this.#ended && this.#held.every(({ path, identity }) => identify(path) === identity);
  }

  get holdsNames(): boolean {
    return this.#held.length > 0;
  }

  call(method: FileMethod, params: object): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#endError());
    const id = ++this.#lastId;
    const { value, bytes } = packParams(method, params);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      this.#send({ id, method, params: value } satisfies CallHeader, bytes);
    });
  }

  /** Lets it take back what was not finished, for a while. Idempotent; never rejects. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), HELPER_END_MS);
    await this.closed;
    clearTimeout(timer);
  }

  async #follow(wrapped: WrappedCommand): Promise<void> {
    this.#child.once("error", (error) => this.#fail(error.message));
    // Of a sandbox that was killed: what it still tells then is how it came to its end, not how the calls would have.
    this.#child.once("exit", (_code, signal) => signal !== null && this.#fail(`signal ${signal}`));
    await new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    this.#fail(`exit code ${this.#child.exitCode}`);
    await wrapped.release();
  }

  /** Only the first reason counts, and what it has said itself before that. */
  #fail(reason: string): void {
    this.#complaint ||= reason;
    this.#ended = true;
    for (const { reject } of this.#waiting.values()) reject(this.#endError());
    this.#waiting.clear();
  }

  #send(header: unknown, body: Uint8Array | undefined): void {
    const { stdin } = this.#child;
    stdin!.cork();
    for (const piece of encodeFrame(header, body)) stdin!.write(piece);
    stdin!.uncork();
  }

  #read(reader: FrameReader, bytes: Buffer): void {
    try {
      for (const frame of reader.push(bytes)) this.#settle(frame);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
      this.#child.kill("SIGKILL");
    }
  }

  #settle({ header, body }: Frame): void {
    const answer = header as AnswerHeader;
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.id);
    if ("error" in answer) waiting.reject(new RpcError(answer.error.code, answer.error.message));
    else waiting.resolve(unpackResult(waiting.method, { value: answer.result, bytes: body }));
  }

  #endError(): RpcError {
    const why = this.#complaint.trim().split("\n", 1)[0];
    return new RpcError(ERROR_CODES.internal, `what makes file calls in the sandbox has ended${why ? `: ${why}` : ""}`);
  }
}

/** Blocks are smaller than any bound on files. */
const MIN_BODY_BYTES = 16 * 1024 * 1024;

/** Changes when something else is put at a path, also where that gets the number of what was there, as on ext4. */
export function identify(path: string): string {
  const there = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (there === undefined) return "missing";
  const { dev, ino, birthtimeNs, ctimeNs } = there;
  // Where no time of birth is kept: that of the last change, which a directory has with each of its entries.
  const time = birthtimeNs || there.isDirectory() ? birthtimeNs : ctimeNs;
  return `${dev}:${ino}:${time}`;
}
