import type { ExecProcess } from "@codex/exec-backend";
import { WriteError } from "@codex/exec-backend";
import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";

/** Resolves with the outcome of a process once its output is complete. Never rejects. */
export async function wait(process: ExecProcess): Promise<ProcessOutcome> {
  const outcome = await process.exited;
  await process.closed;
  return outcome;
}

/** The result of a program that ran to its end. */
export interface Communicated {
  outcome: ProcessOutcome;
  /** Retained output; the output of a terminal is in `stdout`. */
  stdout: Buffer;
  stderr: Buffer;
  /** Evicted byte ranges, in offsets over all streams. */
  evicted: readonly { from: number; to: number }[];
}

/**
 * Writes the whole input, closes stdin and waits for the end of the process. It is not an error if the program does not read
 * all of it. The caller still owns the process.
 * @throws ProcessError `unsupported` where its host cannot close stdin
 */
export async function communicate(process: ExecProcess, input?: Uint8Array): Promise<Communicated> {
  if (input !== undefined) await writeInput(process, input);
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

async function writeInput(process: ExecProcess, input: Uint8Array): Promise<void> {
  try {
    await process.write(input);
  } catch (error) {
    if (!(error instanceof WriteError) || (error.code !== "exited" && error.code !== "stdin_closed")) throw error;
  }
  await process.closeStdin();
}
