import { closeSync } from "node:fs";
import type { ProcessSpec } from "@codex/exec-backend";
import { DEFAULT_TERMINAL_SIZE, StartError } from "@codex/exec-backend";
import type { TerminalSize } from "@codex/executor-protocol";
import type { Children, ChildStart, ChildStdio, Native } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import type { Launched } from "./attach.js";
import { attachPipes, attachTerminal, type LaunchEvents } from "./attach.js";
import { forkOnTerminal, spawnOnPipes } from "./launch-by-node.js";
import type { Program } from "./program.js";
import { toProgram } from "./program.js";
import { startError } from "./start-error.js";

/** Starts a child through a gate; resolves to its pid. */
export type SpawnGated = (child: ChildStart) => Promise<number>;

/**
 * Starts the program of a spec, or the wrapper of its sandbox, which then starts it.
 * @param spawnGated for a spec with a gate, on a host with `Native.children`
 * @throws StartError
 */
export function launch(
  spec: ProcessSpec,
  file: string,
  native: Native,
  events: LaunchEvents,
  { wrapped, spawnGated }: { wrapped: WrappedCommand | undefined; spawnGated: SpawnGated | undefined },
): Launched | Promise<Launched> {
  const program = toProgram(spec, file, wrapped);
  const { children } = native;
  if (spec.stdio.kind === "pipe") {
    const openStdin = spec.stdio.stdin === "open";
    return children === undefined
      ? spawnOnPipes(program, openStdin, native, events)
      : launchOnPipes(program, openStdin, { native, children, spawnGated }, events);
  }
  const size = spec.stdio.size ?? DEFAULT_TERMINAL_SIZE;
  if (children !== undefined) return launchOnTerminal(program, size, { native, children, spawnGated }, events);
  if (spec.arg0 !== undefined && wrapped === undefined) {
    throw new StartError("no_terminal", "`arg0` on a terminal is not supported on this host");
  }
  return forkOnTerminal(program, size, native, events);
}

interface LaunchHost {
  native: Native;
  children: Children;
  spawnGated: SpawnGated | undefined;
}

/** Real pipes: Node's own are sockets, and opening /dev/stdout or /dev/stderr fails on a socket. */
async function launchOnPipes(
  program: Program,
  openStdin: boolean,
  host: LaunchHost,
  events: LaunchEvents,
): Promise<Launched> {
  const { native } = host;
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
    const pid = await start(program, host, stdio, events, onExitOf(events));
    for (const fd of Object.values(stdio)) if (fd !== null) closeSync(fd);
    return { pid, ...attachPipes({ stdin: input?.write, stdout: output.read, stderr: errors.read }, native, events) };
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
async function launchOnTerminal(
  program: Program,
  size: TerminalSize,
  host: LaunchHost,
  events: LaunchEvents,
): Promise<Launched> {
  const { native } = host;
  const { master, slave, path } = openTerminal(native, size);
  try {
    const stdio = { terminal: path, controlled: !program.takesTerminal };
    const pid = await start(program, host, stdio, events, onExitOf(events, slave));
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
    throw new StartError("no_terminal", `no terminal could be opened: ${messageOf(cause)}`, { cause });
  }
}

/** Returns the pid. */
async function start(
  { takesTerminal: _own, ...program }: Program,
  { children, spawnGated }: LaunchHost,
  stdio: ChildStdio,
  events: LaunchEvents,
  onExit: ChildStart["onExit"],
): Promise<number> {
  const child = { ...program, stdio, onExit };
  try {
    return spawnGated === undefined ? events.mark(() => children.spawn(child)) : await spawnGated(child);
  } catch (error) {
    throw startError(error);
  }
}

/** A function of its own: a closure of the caller would retain the program, its environment included, until the exit. */
const onExitOf =
  (events: LaunchEvents, slave?: number): ChildStart["onExit"] =>
  (status) => {
    if (slave !== undefined) closeSync(slave);
    events.onExit(status);
  };
