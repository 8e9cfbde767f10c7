import { closeSync } from "node:fs";
import type { TerminalSize } from "@codex/executor-protocol";
import { type Attached, attachPipes, attachTerminal, type LaunchEvents } from "./attach.js";
import type { ChildStdio, ExitStatus } from "./children.js";
import { StartError } from "./errors.js";
import type { ProcessSpec } from "./exec-backend.js";
import { forkOnTerminal, spawnOnPipes } from "./launch-macos.js";
import { DEFAULT_TERMINAL_SIZE } from "./limits.js";
import type { Native } from "./native.js";
import { startError } from "./start-error.js";

/** A process that was just started, leader of its own session: its pid is the id of its group. */
export interface Launched extends Attached {
  pid: number;
}

/** @throws StartError */
export function launch(
  spec: ProcessSpec,
  file: string,
  native: Native,
  events: LaunchEvents,
): Launched | Promise<Launched> {
  const isLinux = process.platform === "linux";
  if (spec.stdio.kind === "pipe") {
    const openStdin = spec.stdio.stdin === "open";
    return isLinux ? launchOnPipes(spec, file, openStdin, native, events) : spawnOnPipes(spec, file, openStdin, events);
  }
  const size = spec.stdio.size ?? DEFAULT_TERMINAL_SIZE;
  return isLinux
    ? launchOnTerminal(spec, file, size, native, events)
    : forkOnTerminal(spec, file, size, native, events);
}

/** Real pipes: Node's own are sockets, and opening /dev/stdout or /dev/stderr fails on a socket. */
function launchOnPipes(
  spec: ProcessSpec,
  file: string,
  openStdin: boolean,
  native: Native,
  events: LaunchEvents,
): Launched {
  const opened: number[] = [];
  const open = () => {
    const pipe = openPipe(native);
    opened.push(pipe.read, pipe.write);
    return pipe;
  };
  try {
    const input = openStdin ? open() : undefined;
    const [output, errors] = [open(), open()];
    const stdio = { stdin: input?.read ?? null, stdout: output.write, stderr: errors.write };
    const pid = start(spec, file, native, stdio, events);
    for (const fd of Object.values(stdio)) if (fd !== null) closeSync(fd);
    return { pid, ...attachPipes({ stdin: input?.write, stdout: output.read, stderr: errors.read }, events) };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

function openPipe(native: Native) {
  try {
    return native.openPipe();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StartError("os_error", `no pipe could be made: ${detail}`, { cause });
  }
}

/** This process holds the slave side until the process has exited: a terminal without any holder reports a hang-up. */
function launchOnTerminal(
  spec: ProcessSpec,
  file: string,
  size: TerminalSize,
  native: Native,
  events: LaunchEvents,
): Launched {
  const { master, slave, path } = openTerminal(native, size);
  const onExit = (status: ExitStatus) => {
    closeSync(slave);
    events.onExit(status);
  };
  try {
    const pid = start(spec, file, native, { terminal: path }, { ...events, onExit });
    return { pid, ...attachTerminal(master, native, events) };
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
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StartError("no_terminal", `no terminal could be opened: ${detail}`, { cause });
  }
}

/** Returns the pid. */
function start(
  { argv, arg0, env, cwd }: ProcessSpec,
  file: string,
  native: Native,
  stdio: ChildStdio,
  { onExit, mark }: LaunchEvents,
): number {
  const words = [arg0 ?? argv[0]!, ...argv.slice(1)];
  try {
    return mark(() => native.children.spawn({ file, argv: words, env, cwd, stdio, onExit }));
  } catch (error) {
    throw startError(error);
  }
}
