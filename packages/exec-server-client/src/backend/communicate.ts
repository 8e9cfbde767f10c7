import type { ExecProcess } from "@codex/exec-backend";
import { WriteError } from "@codex/exec-backend";
import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";

/** Resolves when a process has ended and its output is complete, with how it ended. Never rejects. */
export async function wait(process: ExecProcess): Promise<ProcessOutcome> {
  const outcome = await process.exited;
  await process.closed;
  return outcome;
}

/** What a program that ran to its end came to. */
export interface Communicated {
  outcome: ProcessOutcome;
  /** Retained output; that of a terminal is in `stdout`. */
  stdout: Buffer;
  stderr: Buffer;
  /** Byte ranges over all streams that the log did not keep. */
  evicted: readonly { from: number; to: number }[];
}

/**
 * Gives a process its whole input, closes its stdin and waits for its end. A program that does not read all of it is
 * no error. The process stays the caller's.
 * @throws ProcessError `unsupported` where its host cannot close stdin
 */
export async function communicate(process: ExecProcess, input?: Uint8Array): Promise<Communicated> {
  if (input !== undefined) await giveInput(process, input);
  const outcome = await wait(process);
  const { chunks, evicted } = await process.log.read(0);
  const join = (wanted: (stream: OutputStream) => boolean) =>
    Buffer.concat(chunks.filter(({ stream }) => wanted(stream)).map(({ bytes }) => bytes));
  return {
    outcome,
    stdout: join((stream) => stream !== "stderr"),
    stderr: join((stream) => stream === "stderr"),
    evicted,
  };
}

async function giveInput(process: ExecProcess, input: Uint8Array): Promise<void> {
  try {
    await process.write(input);
  } catch (error) {
    if (!(error instanceof WriteError) || (error.code !== "exited" && error.code !== "stdin_closed")) throw error;
  }
  await process.closeStdin();
}
