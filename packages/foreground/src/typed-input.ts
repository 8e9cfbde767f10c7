import type { ReadStream } from "node:tty";
import { type Escape, EscapeKeys } from "./escape-keys.js";
import { MAX_HELD_INPUT_BYTES, UNANSWERED_MS } from "./limits.js";
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
  /** Writes a line for the person. */
  say: (line: string) => void;
  /** The user gave up waiting. */
  onLeave: (how: string) => void;
}

/**
 * Forwards typed input with back-pressure. While the executor cannot be reached, input is buffered and delivered after
 * reconnecting: a shell must not find it in the terminal later. Ctrl-C drops the buffer; Ctrl-C twice, or `~.` at the beginning
 * of a line, gives up. Returns a function that stops it.
 */
export function passTyped(stdin: ReadStream, { target, outages, say, onLeave }: TypedInputOptions): () => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Forwarded, not acknowledged yet. */
  let onItsWay = Buffer.alloc(0);
  let writing = false;
  let ended = false;
  let atEnd = false;
  let isFull = false;
  /** Set while typed input may be meant for this command. */
  let escapes: EscapeKeys | undefined;

  const drop = () => {
    held = [];
    heldBytes = 0;
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
    while (held.length > 0 && !outages.isLost && !ended) {
      const bytes = Buffer.concat(held);
      onItsWay = bytes;
      drop();
      // Unacknowledged input may be on its way to an executor that is gone.
      const timer = setTimeout(attend, UNANSWERED_MS);
      await target.write(bytes).catch(stop);
      clearTimeout(timer);
      onItsWay = Buffer.alloc(0);
    }
    writing = false;
    if (ended || outages.isLost) return;
    if (atEnd) return void target.closeStdin().catch(() => {}); // it has ended, which its outcome reports
    escapes = undefined;
    stdin.resume();
  };

  /** Keeps reading, to find keys that are meant for this command. */
  const attend = () => {
    if (ended) return;
    if (escapes === undefined) {
      escapes = new EscapeKeys();
      obey(Buffer.concat([onItsWay, ...held]));
    }
    stdin.resume();
  };

  /** Handles keys that are meant for this command; undefined when the person gives up. */
  const obey = (bytes: Buffer): Escape | "nothing" | undefined => {
    const found = escapes?.read(bytes);
    if (found === "interrupt twice" || (found === "tilde" && outages.isLost)) {
      leave(found === "tilde" ? "~." : "Ctrl-C twice");
      return undefined;
    }
    if (found === "interrupt") {
      say(`${outages.isLost ? "there is no connection" : "the executor does not answer"}; Ctrl-C again gives up`);
    }
    return found ?? "nothing";
  };

  const take = (bytes: Buffer) => {
    const found = obey(bytes);
    if (found === undefined) return;
    const kept = found === "interrupt" && outages.isLost ? bytes.subarray(bytes.lastIndexOf(0x03)) : bytes;
    if (kept !== bytes) drop();
    hold(kept);
    if (!writing && !outages.isLost) void write();
    else if (escapes === undefined || (!outages.isLost && heldBytes >= MAX_HELD_INPUT_BYTES)) stdin.pause();
  };

  const hold = (bytes: Buffer) => {
    if (outages.isLost && (isFull || heldBytes + bytes.length > MAX_HELD_INPUT_BYTES)) {
      // A part of the input could mean something else than the whole.
      isFull = true;
      return drop();
    }
    held.push(bytes);
    heldBytes += bytes.length;
  };

  const change = (isLost: boolean) => {
    if (isLost) return attend();
    if (isFull) say(`what was typed meanwhile was dropped: it was more than ${MAX_HELD_INPUT_BYTES} bytes`);
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
  if (outages.isLost) attend();
  return stop;
}
