import { close, fstat, fstatSync, rename, write } from "node:fs";
import { promisify } from "node:util";
import { openOutputFileSync } from "@codex/file-lock";
import { messageOf } from "@codex/values";
import { LOG_CLOSE_MS, MAX_LOG_FILE_BYTES, MAX_WAITING_LOG_BYTES } from "../limits.js";
import type { LogFormat } from "./format.js";
import { formatDropped, type LogSink } from "./sink.js";

/** Options of `createLogFileSink`; only `format` is required. */
export interface LogFileSinkOptions {
  /** Format of the line that reports dropped lines. */
  format: LogFormat;
  /** Size at which the file becomes `FILE.1`, in place of an older one. Default 64 MiB. */
  maxBytes?: number;
  /** Bytes of lines that may wait for the disk. Default 1 MiB. */
  maxWaiting?: number;
  /** Called once when writing begins to fail, again after it worked in between, and at the end with what was lost. */
  onProblem?: (message: string) => void;
}

const closeFile = promisify(close);
const renameFile = promisify(rename);
const statFile = promisify(fstat);
const writeFile = promisify(write) as (fd: number, bytes: Buffer, from: number) => Promise<{ bytesWritten: number }>;

/**
 * Appends lines to a file, which is created with mode 600 when it is missing. The lines of a failed
 * write are dropped and counted; later lines are tried again. For one process: two that share a file would rename it for each other.
 * @throws Error when the file cannot be opened
 */
export function createLogFileSink(path: string, options: LogFileSinkOptions): LogSink & AsyncDisposable {
  return new FileSink(path, options);
}

class FileSink implements LogSink, AsyncDisposable {
  readonly #path: string;
  readonly #options: Required<LogFileSinkOptions>;
  /** Undefined between two files that could not be opened. */
  #fd: number | undefined;
  #size: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #isFailing = false;
  /** The file ends in the middle of a line. */
  #endsMidLine = false;
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string, options: LogFileSinkOptions) {
    this.#path = path;
    this.#options = {
      maxBytes: MAX_LOG_FILE_BYTES,
      maxWaiting: MAX_WAITING_LOG_BYTES,
      onProblem: () => {},
      ...options,
    };
    this.#fd = openLog(path);
    this.#size = fstatSync(this.#fd).size;
  }

  write(line: string): void {
    if (this.#closing !== undefined) return;
    if (this.#waitingBytes > this.#options.maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += Buffer.byteLength(line);
    this.#writing ??= this.#writeAll();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Writes the lines of one turn of the event loop together. Never rejects. */
  async #writeAll(): Promise<void> {
    await undefined;
    while (this.#waiting.length > 0 || this.#dropped > 0) {
      const lines = this.#waiting;
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#waiting = [];
      this.#waitingBytes = 0;
      const marker = dropped === 0 ? "" : formatDropped(dropped, this.#options.format);
      const problem = await this.#append(Buffer.from(lines.join("") + marker), lines.length);
      if (problem === undefined) continue;
      this.#dropped += dropped + problem.lost;
      if (!this.#isFailing) this.#options.onProblem(`${this.#path}: the log cannot be written: ${problem.message}`);
      this.#isFailing = true;
      break; // tried again with the next line
    }
    this.#writing = undefined;
  }

  /** Returns what went wrong, and how many of the first `count` lines are not in the file. Never rejects. */
  async #append(lines: Buffer, count: number): Promise<{ message: string; lost: number } | undefined> {
    let done = 0;
    const bytes = this.#endsMidLine ? Buffer.concat([LINE_FEED, lines]) : lines;
    try {
      if (this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes) await this.#rotate();
      this.#fd ??= openLog(this.#path);
      while (done < bytes.length) done += (await writeFile(this.#fd, bytes, done)).bytesWritten;
      this.#isFailing = false;
      return undefined;
    } catch (error) {
      const whole = countLines(bytes.subarray(bytes.length - lines.length, done));
      return { message: messageOf(error), lost: Math.max(0, count - whole) };
    } finally {
      this.#size += done;
      if (done > 0) this.#endsMidLine = bytes[done - 1] !== LINE_FEED[0];
    }
  }

  async #rotate(): Promise<void> {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) await closeFile(fd);
    await renameFile(this.#path, `${this.#path}.1`).catch(() => {}); // another process has moved it
    this.#fd = openLog(this.#path);
    this.#size = (await statFile(this.#fd)).size;
  }

  async #writeRest(): Promise<void> {
    await this.#writing;
    if (this.#dropped === 0) return;
    this.#writing = this.#writeAll();
    await this.#writing;
  }

  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOG_CLOSE_MS);
    });
    await Promise.race([this.#writeRest(), timeout]);
    clearTimeout(timer);
    if (this.#dropped > 0) this.#options.onProblem(`${this.#path}: ${this.#dropped} lines of the log are lost`);
    if (this.#writing !== undefined) return; // a write that hangs still uses the descriptor
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) await closeFile(fd).catch(() => {});
  }
}

const openLog = (path: string): number => openOutputFileSync(path, { flags: "a", mode: 0o600 });

const LINE_FEED = Buffer.from("\n");

const countLines = (bytes: Buffer): number => bytes.reduce((count, byte) => count + (byte === LINE_FEED[0] ? 1 : 0), 0);
