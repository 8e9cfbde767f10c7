import { Socket } from "node:net";
import type { TerminalSize } from "@codex/executor-protocol";
import { type Native, readPipe, readTerminal } from "@codex/native";
import { closedStdin, createPipeWriter, type StdinWriter, TerminalWriter } from "../stdin-writer.js";
import type { ProcessRecord } from "./process-record.js";

/** The input of a process that was just started. */
export interface Attached {
  stdin: StdinWriter;
  /** Undefined on pipes. @throws when the terminal is gone. */
  resize: ((size: TerminalSize) => void) | undefined;
}

/** A process that was just started, leader of its own session: its pid is the id of its group. */
export interface Launched extends Attached {
  pid: number;
}

interface AttachHost {
  native: Native;
  record: ProcessRecord;
}

/** Takes ownership of this process's ends of the pipes, and reads and writes them. */
export function attachPipes(
  { stdin, stdout, stderr }: { stdin: number | undefined; stdout: number; stderr: number },
  { native: { readMemory }, record }: AttachHost,
): Attached {
  const writer =
    stdin === undefined ? closedStdin : createPipeWriter(new Socket({ fd: stdin, readable: false, writable: true }));
  record.read("stdout", (sink) => readPipe(stdout, readMemory, sink));
  record.read("stderr", (sink) => readPipe(stderr, readMemory, sink));
  return { stdin: writer, resize: undefined };
}

/** Takes ownership of the master side of a process's terminal, and reads and writes it. */
export function attachTerminal(master: number, { native, record }: AttachHost): Attached {
  const source = record.read("pty", (sink) => readTerminal(master, native.readMemory, sink));
  return {
    stdin: new TerminalWriter(master, source),
    resize: (size) => {
      if (!source.open) throw new Error("the terminal is gone");
      native.resizeTerminal(master, size);
    },
  };
}
