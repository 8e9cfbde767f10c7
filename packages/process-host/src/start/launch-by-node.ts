import { type ChildProcess, spawn } from "node:child_process";
import { StartError } from "@codex/exec-backend";
import type { TerminalSize } from "@codex/executor-protocol";
import { getSignalName, readStream } from "@codex/native";
import { messageOf } from "@codex/values";
import { closedStdin, createPipeWriter } from "../stdin-writer.js";
import type { Launched } from "./attach.js";
import { attachTerminal } from "./attach.js";
import type { Launcher } from "./launcher.js";
import type { ProcessRecord } from "./process-record.js";
import type { Program } from "./program.js";
import { startError } from "./start-error.js";

/** Starts a process on pipes that Node creates. @throws StartError */
export async function spawnOnPipes(
  { file, argv, cwd, env, descriptors }: Program,
  openStdin: boolean,
  { native: { readTurns }, record, markStart }: Launcher,
): Promise<Launched> {
  const child = await spawnChild(
    () =>
      markStart(() =>
        spawn(file, argv.slice(1), {
          argv0: argv[0]!,
          cwd,
          env,
          detached: true,
          stdio: [openStdin ? "pipe" : "ignore", "pipe", "pipe", ...descriptors],
        }),
      ),
    record,
  );
  record.read("stdout", (sink) => readStream(child.stdout!, readTurns, sink));
  record.read("stderr", (sink) => readStream(child.stderr!, readTurns, sink));
  return {
    pid: child.pid!,
    stdin: child.stdin === null ? closedStdin : createPipeWriter(child.stdin),
    resize: undefined,
  };
}

/** Starts a process on a terminal by node-pty, whose helper makes it the controlling terminal. @throws StartError */
export async function forkOnTerminal(
  { file, argv, cwd, env: variables, descriptors }: Program,
  size: TerminalSize,
  launcher: Launcher,
): Promise<Launched> {
  const { native, record, markStart } = launcher;
  const onExit = (code: number, signal: number) =>
    record.onExit(signal === 0 ? { code } : { signal: getSignalName(signal) });
  if (descriptors.length > 0) throw new StartError("no_terminal", "no terminal in a sandbox: the C library is too old");
  const env = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  try {
    const args = argv.slice(1);
    const { master, pid } = markStart(() => native.forkTerminal({ file, args, env, cwd, size, onExit }));
    return { pid, ...attachTerminal(master, launcher) };
  } catch (cause) {
    throw new StartError("no_terminal", `no terminal could be opened: ${messageOf(cause)}`, { cause });
  }
}

/** Resolves once the process exists. A failure of the system call itself becomes a StartError. */
function spawnChild(start: () => ChildProcess, record: ProcessRecord): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = start();
    } catch (error) {
      reject(startError(error));
      return;
    }
    child.on("error", (error) => reject(startError(error)));
    child.once("exit", (code, signal) => record.onExit(signal === null ? { code: code ?? 0 } : { signal }));
    if (child.pid !== undefined) resolve(child);
  });
}
