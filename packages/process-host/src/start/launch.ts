import { closeSync } from "node:fs";
import type { ProcessSpec } from "@codex/exec-backend";
import { DEFAULT_TERMINAL_SIZE, StartError } from "@codex/exec-backend";
import type { TerminalSize } from "@codex/executor-protocol";
import type { Children, ChildStart, ChildStdio, Native } from "@codex/native";
import { messageOf } from "@codex/values";
import type { Launched } from "./attach.js";
import { attachPipes, attachTerminal } from "./attach.js";
import { forkOnTerminal, spawnOnPipes } from "./launch-by-node.js";
import type { Launcher } from "./launcher.js";
import type { ProcessRecord } from "./process-record.js";
import type { Program } from "./program.js";
import { toProgram } from "./program.js";
import { startError } from "./start-error.js";

/** Starts the program of a spec, or the wrapper of its sandbox, which then starts it. @throws StartError */
export function launch(spec: ProcessSpec, file: string, launcher: Launcher): Launched | Promise<Launched> {
  const { native, wrapped, resources } = launcher;
  const plain = toProgram(spec, file, wrapped);
  const program = resources === undefined ? plain : { ...plain, ...resources.wrap(plain.file, plain.argv) };
  const { children } = native;
  if (spec.stdio.kind === "pipe") {
    const openStdin = spec.stdio.stdin === "open";
    return children === undefined
      ? spawnOnPipes(program, openStdin, launcher)
      : launchOnPipes(program, openStdin, { ...launcher, children });
  }
  const size = spec.stdio.size ?? DEFAULT_TERMINAL_SIZE;
  if (children !== undefined) return launchOnTerminal(program, size, { ...launcher, children });
  if (spec.arg0 !== undefined && wrapped === undefined && resources === undefined) {
    throw new StartError("no_terminal", "`arg0` on a terminal is not supported on this host");
  }
  return forkOnTerminal(program, size, launcher);
}

type ChildLauncher = Launcher & { children: Children };

/** Real pipes: Node's own are sockets, and opening /dev/stdout or /dev/stderr fails on a socket. */
async function launchOnPipes(program: Program, openStdin: boolean, launcher: ChildLauncher): Promise<Launched> {
  const { native, record } = launcher;
  const opened: number[] = [];
  const open = () => {
    const pipe = orStartError(native.openPipe);
    opened.push(pipe.read, pipe.write);
    return pipe;
  };
  try {
    const input = openStdin ? open() : undefined;
    const [output, errors] = [open(), open()];
    const stdio = { stdin: input?.read ?? null, stdout: output.write, stderr: errors.write };
    const pid = await start(program, launcher, stdio, onExitOf(record));
    for (const fd of Object.values(stdio)) if (fd !== null) closeSync(fd);
    return { pid, ...attachPipes({ stdin: input?.write, stdout: output.read, stderr: errors.read }, launcher) };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

function orStartError<T>(open: () => T): T {
  try {
    return open();
  } catch (cause) {
    throw new StartError("os_error", `no pipe could be opened: ${messageOf(cause)}`, { cause });
  }
}

/** This process holds the slave side until the process has exited: a terminal without any holder reports a hang-up. */
async function launchOnTerminal(program: Program, size: TerminalSize, launcher: ChildLauncher): Promise<Launched> {
  const { native, record } = launcher;
  const { master, slave, path } = openTerminal(native, size);
  try {
    const stdio = { terminal: path, controlled: !program.takesTerminal };
    const pid = await start(program, launcher, stdio, onExitOf(record, slave));
    return { pid, ...attachTerminal(master, launcher) };
  } catch (error) {
    closeSync(master);
    closeSync(slave);
    throw error;
  }
}

function openTerminal(native: Native, size: TerminalSize) {
  try {
    return native.openTerminal(size);
  } catch (cause) {
    throw new StartError("no_terminal", `no terminal could be opened: ${messageOf(cause)}`, { cause });
  }
}

/** Returns the pid. */
async function start(
  { takesTerminal: _own, ...program }: Program,
  { children, spawnGated, markStart }: ChildLauncher,
  stdio: ChildStdio,
  onExit: ChildStart["onExit"],
): Promise<number> {
  const child = { ...program, stdio, onExit };
  try {
    return spawnGated === undefined ? markStart(() => children.spawn(child)) : await spawnGated(child);
  } catch (error) {
    throw startError(error);
  }
}

/** A function of its own: a closure of the caller would retain the program, its environment included, until the exit. */
const onExitOf =
  (record: ProcessRecord, slave?: number): ChildStart["onExit"] =>
  (status) => {
    if (slave !== undefined) closeSync(slave);
    record.onExit(status);
  };
