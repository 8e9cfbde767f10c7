import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import { getExitCode } from "@codex/exec-backend";
import type { OracleScript } from "./oracle-script.js";
import { COLS, type OracleResult, ROWS } from "./result.js";
import { type RunContext, SCRIPT_TIMEOUT_MS } from "./run-direct.js";
import { createTypist } from "./typist.js";

/** Runs a script with one of our backends. */
export async function runThrough(
  backend: ExecBackend,
  { script, shell, input, tty, steps = [] }: OracleScript,
  { cwd, env }: RunContext,
): Promise<OracleResult> {
  const stdio: ProcessSpec["stdio"] = tty
    ? { kind: "pty", size: { rows: ROWS, cols: COLS } }
    : { kind: "pipe", stdin: input === undefined ? "null" : "open" };
  const process = await backend.start({ argv: [`/bin/${shell}`, "-c", script], cwd, env, stdio });
  const type = (text: string) => void process.write(Buffer.from(text)).catch(() => {}); // it may have ended
  const typist = createTypist(steps, type);
  if (input !== undefined) {
    await process.write(Buffer.from(input)).catch(() => {}); // it need not read what it is given
    await process.closeStdin().catch(() => {});
  }
  const timer = setTimeout(() => void process.terminate({ graceMs: 0 }), SCRIPT_TIMEOUT_MS);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  for await (const { stream, bytes } of process.log.follow()) {
    (stream === "stderr" ? stderr : stdout).push(Buffer.from(bytes));
    typist.receive(bytes);
  }
  typist.stop();
  clearTimeout(timer);
  const code = getExitCode(await process.exited) ?? -1;
  process.dispose();
  return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr), code };
}
