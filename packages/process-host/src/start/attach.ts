import { Socket } from "node:net";
import type { OutputStream, TerminalSize } from "@codex/executor-protocol";
import type { ExitStatus, Native } from "@codex/native";
import { type ByteSink, type ByteSource, readPipe, readTerminal } from "@codex/native";
import { closedStdin, createPipeWriter, type StdinWriter, TerminalWriter } from "../stdin-writer.js";

/** The streams of a process that was just started. */
export interface Attached {
  stdin: StdinWriter;
  sources: ByteSource[];
  /** Undefined on pipes. @throws when the terminal is gone. */
  resize: ((size: TerminalSize) => void) | undefined;
}

/** A process that was just started, leader of its own session: its pid is the id of its group. */
export interface Launched extends Attached {
  pid: number;
}

export interface LaunchEvents {
  onOutput(stream: OutputStream, bytes: Buffer): void;
  /** Once for each of `sources`. */
  onStreamEnd(): void;
  onExit(status: ExitStatus): void;
  /** Runs the call that starts the process, on a host with marks; see `Marks`. */
  mark<T>(start: () => T): T;
}

/** Takes ownership of this process's ends of the pipes, and reads and writes them. */
export function attachPipes(
  { stdin, stdout, stderr }: { stdin: number | undefined; stdout: number; stderr: number },
  native: Native,
  events: LaunchEvents,
): Attached {
  const { readMemory } = native;
  const writer =
    stdin === undefined ? closedStdin : createPipeWriter(new Socket({ fd: stdin, readable: false, writable: true }));
  return {
    stdin: writer,
    sources: [
      readPipe(stdout, readMemory, new StreamSink("stdout", events)),
      readPipe(stderr, readMemory, new StreamSink("stderr", events)),
    ],
    resize: undefined,
  };
}

/** Passes the bytes of one stream on as events. */
export class StreamSink implements ByteSink {
  readonly #stream: OutputStream;
  readonly #events: LaunchEvents;

  constructor(stream: OutputStream, events: LaunchEvents) {
    this.#stream = stream;
    this.#events = events;
  }

  onBytes(bytes: Buffer): void {
    this.#events.onOutput(this.#stream, bytes);
  }

  onEnd(): void {
    this.#events.onStreamEnd();
  }
}

/** Takes ownership of the master side of a process's terminal, and reads and writes it. */
export function attachTerminal(master: number, native: Native, events: LaunchEvents): Attached {
  const source = readTerminal(master, native.readMemory, new StreamSink("pty", events));
  return {
    stdin: new TerminalWriter(master, source),
    sources: [source],
    resize: (size) => {
      if (!source.open) throw new Error("the terminal is gone");
      native.resizeTerminal(master, size);
    },
  };
}
