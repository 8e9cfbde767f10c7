import type { ReadStream } from "node:tty";
import { type Escape, EscapeKeys } from "./escape-keys.js";
import { MAX_HELD_INPUT_BYTES, UNANSWERED_MS } from "./limits.js";
import { type LineEscape, LineEscapes } from "./line-escapes.js";
import type { Outages } from "./outages.js";

/** Receiver of typed input. */
export interface InputTarget {
  /** Resolves when the input was accepted; rejects when no more input is accepted. */
  write(bytes: Uint8Array): Promise<void>;
  closeStdin(): Promise<void>;
}

export interface TypedInputOptions {
  target: InputTarget;
  outages: Pick<Outages, "isLost" | "watch">;
  /** Shows the user a line. */
  say: (line: string) => void;
  /** The user gave up waiting. */
  onLeave: (how: string) => void;
  /** Called for keys that are always meant for this command, after `~` at the beginning of a line; absent: there are none. */
  onKey?: ((key: LineEscape) => void) | undefined;
}

/**
 * Forwards typed input with back-pressure. While the executor cannot be reached, input is buffered and delivered after
 * reconnecting: a shell must not find it in the terminal later. Ctrl-C drops the buffer; Ctrl-C twice, or `~.` at the beginning
 * of a line, gives up. Returns a function that stops it.
 */
export function passTyped(stdin: ReadStream, { target, outages, say, onLeave, onKey }: TypedInputOptions): () => void {
  const lines = new LineEscapes();
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  /** Forwarded input that is not acknowledged yet. */
  let unacknowledged = Buffer.alloc(0);
  let writing = false;
  let ended = false;
  let atEnd = false;
  let isFull = false;
  /** Set while typed input may be meant for this command. */
  let escapes: EscapeKeys | undefined;

  const drop = () => {
    buffered = [];
    bufferedBytes = 0;
  };
  const stop = () => {
    ended = true;
    stdin.pause();
    for (const off of offs) off();
  };
  const leave = (how: string) => {
    drop();
    onLeave(how);
  };

  const write = async () => {
    writing = true;
    while (buffered.length > 0 && !outages.isLost && !ended) {
      const bytes = Buffer.concat(buffered);
      unacknowledged = bytes;
      drop();
      // Unacknowledged input may be on its way to an executor that is gone.
      const timer = setTimeout(watchEscapes, UNANSWERED_MS);
      await target.write(bytes).catch(stop);
      clearTimeout(timer);
      unacknowledged = Buffer.alloc(0);
    }
    writing = false;
    if (ended || outages.isLost) return;
    if (atEnd) return void target.closeStdin().catch(() => {}); // it has ended, which its outcome reports
    escapes = undefined;
    stdin.resume();
  };

  /** Keeps reading, to find keys that are meant for this command. */
  const watchEscapes = () => {
    if (ended) return;
    if (escapes === undefined) {
      escapes = new EscapeKeys();
      handleEscapes(Buffer.concat([unacknowledged, ...buffered]));
    }
    stdin.resume();
  };

  /** Handles keys that are meant for this command; undefined when the user gives up. */
  const handleEscapes = (bytes: Buffer): Escape | "nothing" | undefined => {
    const found = escapes?.read(bytes);
    if (found === "interrupt twice" || (found === "tilde" && outages.isLost)) {
      leave(found === "tilde" ? "~." : "Ctrl-C twice");
      return undefined;
    }
    if (found === "interrupt") {
      say(`${outages.isLost ? "there is no connection" : "the executor does not respond"}; Ctrl-C again gives up`);
    }
    return found ?? "nothing";
  };

  const take = (typed: Buffer) => {
    if (onKey === undefined) return takeBytes(typed);
    const { passed, key, rest } = lines.read(typed);
    if (passed.length > 0) takeBytes(passed);
    if (key === "leave") drop();
    if (key !== undefined) onKey(key);
    if (rest.length > 0 && key !== "leave") take(rest);
  };

  const takeBytes = (bytes: Buffer) => {
    const found = handleEscapes(bytes);
    if (found === undefined) return;
    const kept = found === "interrupt" && outages.isLost ? bytes.subarray(bytes.lastIndexOf(0x03)) : bytes;
    if (kept !== bytes) drop();
    buffer(kept);
    if (!writing && !outages.isLost) void write();
    else if (escapes === undefined || (!outages.isLost && bufferedBytes >= MAX_HELD_INPUT_BYTES)) stdin.pause();
  };

  const buffer = (bytes: Buffer) => {
    if (outages.isLost && (isFull || bufferedBytes + bytes.length > MAX_HELD_INPUT_BYTES)) {
      // A part of the input could mean something else than the whole.
      isFull = true;
      return drop();
    }
    buffered.push(bytes);
    bufferedBytes += bytes.length;
  };

  const change = (isLost: boolean) => {
    if (isLost) return watchEscapes();
    if (isFull) say(`what was typed in the meantime was dropped: it was more than ${MAX_HELD_INPUT_BYTES} bytes`);
    isFull = false;
    if (!writing) void write();
  };

  const close = () => {
    atEnd = true;
    if (!writing && !outages.isLost) void write();
  };
  stdin.on("data", take);
  stdin.once("end", close);
  const offs = [outages.watch(change), () => stdin.off("data", take), () => stdin.off("end", close)];
  if (outages.isLost) watchEscapes();
  return stop;
}
