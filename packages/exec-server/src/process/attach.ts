import { Socket } from "node:net";
import type { OutputStream, TerminalSize } from "@codex/executor-protocol";
import { type ByteSource, readPipe, readTerminal } from "./byte-source.js";
import type { ExitStatus } from "./children.js";
import type { Native } from "./native.js";
import { closedStdin, createPipeWriter, createTerminalWriter, type StdinWriter } from "./stdin-writer.js";

/** The streams of a process that was just started. */
export interface Attached {
  stdin: StdinWriter;
  sources: ByteSource[];
  /** Undefined on pipes. @throws when the terminal is gone. */
  resize: ((size: TerminalSize) => void) | undefined;
}

export interface LaunchEvents {
  onOutput(stream: OutputStream, bytes: Buffer): void;
  /** Once for each of `sources`. */
  onStreamEnd(): void;
  onExit(status: ExitStatus): void;
  /** Runs the call that starts the process, on a host with marks; see `Marks`. */
  mark<T>(start: () => T): T;
}

/** Our ends of its pipes. Owns them from now on. */
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
      readPipe(stdout, readMemory, sinkFor("stdout", events)),
      readPipe(stderr, readMemory, sinkFor("stderr", events)),
    ],
    resize: undefined,
  };
}

/** Where the bytes of a stream go. */
export const sinkFor = (stream: OutputStream, events: LaunchEvents) => ({
  onBytes: (bytes: Buffer) => events.onOutput(stream, bytes),
  onEnd: events.onStreamEnd,
});

/** The master side of its terminal. Owns it from now on. */
export function attachTerminal(master: number, native: Native, events: LaunchEvents): Attached {
  const source = readTerminal(master, native.readMemory, {
    onBytes: (bytes) => events.onOutput("pty", bytes),
    onEnd: () => {
      stdin.close();
      events.onStreamEnd();
    },
  });
  const stdin = createTerminalWriter(master, () => source.open);
  return {
    stdin,
    sources: [source],
    resize: (size) => {
      if (!source.open) throw new Error("the terminal is gone");
      native.resizeTerminal(master, size);
    },
  };
}
