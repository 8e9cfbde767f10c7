import { type ChildProcess, spawn } from "node:child_process";
import { getSignalNumber } from "@codex/exec-backend";
import type { OracleScript } from "./oracle-script.js";
import type { OracleResult } from "./result.js";
import { COLS, ROWS } from "./result.js";
import { createTypist } from "./typist.js";

export interface RunContext {
  cwd: string;
  env: Record<string, string>;
}

/** Time limit of a script, milliseconds; one that takes longer is killed and has the code of SIGKILL. */
export const SCRIPT_TIMEOUT_MS = 20_000;

/** Runs a script directly: as a child on pipes, or under `script` of util-linux, which provides a terminal. */
export function runDirect(oracle: OracleScript, { cwd, env }: RunContext): Promise<OracleResult> {
  const argv = oracle.tty ? underScript(oracle) : [`/bin/${oracle.shell}`, "-c", oracle.script];
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env,
    detached: true,
    timeout: SCRIPT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    stdio: [oracle.tty || oracle.input !== undefined ? "pipe" : "ignore", "pipe", "pipe"],
  });
  child.stdin?.on("error", () => {}); // a program need not read what it is given
  if (oracle.input !== undefined) child.stdin?.end(oracle.input);
  return collect(child, oracle);
}

/** The size is set before the program starts; `-E always` does not change the echo of the terminal. */
function underScript({ shell, script }: OracleScript): string[] {
  const quoted = `'${script.replaceAll("'", "'\\''")}'`;
  const command = `stty rows ${ROWS} cols ${COLS}; exec /bin/${shell} -c ${quoted}`;
  return ["script", "-qefc", command, "-E", "always", "/dev/null"];
}

function collect(child: ChildProcess, { steps = [] }: OracleScript): Promise<OracleResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const typist = createTypist(steps, (text) => void child.stdin?.write(text));
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout.push(bytes);
    typist.receive(bytes);
  });
  child.stderr?.on("data", (bytes: Buffer) => stderr.push(bytes));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // `script` ends with its stdin as well.
    child.once("exit", () => child.stdin?.destroy());
    child.once("close", (code, signal) => {
      typist.stop();
      const status = signal === null ? (code ?? 0) : 128 + (getSignalNumber(signal) ?? 0);
      resolve({ stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr), code: status });
    });
  });
}
