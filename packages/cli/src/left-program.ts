import { once } from "node:events";
import type { ProcessSpec } from "@codex/exec-backend";
import { createRemoteBackend, type RunningProcess, toHostInfo } from "@codex/exec-server-client";
import type { RunCommandRequest } from "@codex/orchestrator";
import { type CredentialArguments, readCredentials } from "@codex/servers";
import { defined, messageOf } from "@codex/values";
import { connectClient } from "./exec-server-host.js";
import type { ExecutorAddress } from "./executor-address.js";
import { CommandError, EXIT } from "./exit-codes.js";
import { escapeHelp, LineEscapes } from "./foreground/line-escapes.js";
import { written } from "./foreground/standard-output.js";
import { getTerminalSize, takeTerminal } from "./foreground/terminal.js";
import type { LeftProgram } from "./left-program-id.js";
import { passToTerminal, say } from "./notice.js";

/** Starts a program on an exec-server, and leaves it: the server keeps it for its `--resume-grace`. @throws CommandError, StartError */
export async function leaveOnExecServer(
  address: ExecutorAddress,
  credentials: CredentialArguments,
  request: RunCommandRequest,
): Promise<string> {
  const client = await connectClient(address, readCredentials(credentials));
  try {
    const { cwd } = toHostInfo(await client.environment.describe());
    const process = crypto.randomUUID();
    const spec: ProcessSpec = {
      argv: request.argv,
      cwd: request.cwd ?? cwd,
      env: request.env ?? {},
      stdio: request.tty ? { kind: "pty", ...defined({ size: request.size }) } : { kind: "pipe", stdin: "null" },
      ...defined({ envPolicy: request.envPolicy, sandbox: request.sandbox ?? undefined }),
    };
    await createRemoteBackend(client, { newId: () => process }).start(spec);
    return `${client.sessionId}/${process}`;
  } finally {
    await client.leave();
  }
}

/** Longest wait of one read, milliseconds. */
const WAIT_MS = 10_000;

/**
 * Takes up a program that was left on an exec-server: prints its output from the beginning, and passes keys and the size of this terminal, until it ends or
 * is left with `~.`. Ends with its exit code. @throws CommandError
 */
export async function attachToExecServer(
  { session, process: processId }: LeftProgram,
  address: ExecutorAddress,
  { readOnly, ...credentials }: CredentialArguments & { readOnly: boolean },
): Promise<void> {
  const client = await connectClient(address, { ...readCredentials(credentials), resumeSessionId: session }).catch(
    (cause: unknown) => {
      throw new CommandError(`the session cannot be taken up: ${messageOf(cause)}`, EXIT.failure, { cause });
    },
  );
  const stop = new AbortController();
  const leave = () => stop.abort();
  process.once("SIGINT", leave).once("SIGTERM", leave).once("SIGHUP", leave);
  const program = client.adopt(processId);
  const isInteractive = !readOnly && process.stdin.isTTY && process.stdout.isTTY;
  const stopTyping = isInteractive ? passKeys(program, leave) : () => {};
  // As in `codex run`, where it is the program of this terminal; else escaped at a terminal.
  const passTo = (to: NodeJS.WriteStream) =>
    isInteractive ? (bytes: Buffer) => void to.write(bytes) : passToTerminal(to);
  const [output, errors] = [passTo(process.stdout), passTo(process.stderr)];
  const left = once(stop.signal, "abort").then(() => undefined);
  try {
    for (let afterSeq = 0; ; ) {
      const reading = program.read({ afterSeq, waitMs: WAIT_MS });
      reading.catch(() => {}); // after it was left, nobody waits for it
      const part = await Promise.race([reading, left]);
      if (part === undefined) break;
      for (const { stream, chunk, seq } of part.chunks) {
        const to = stream === "stderr" ? process.stderr : process.stdout;
        (stream === "stderr" ? errors : output)(Buffer.from(chunk, "base64"));
        if (to.writableNeedDrain) await written(to);
        afterSeq = seq;
      }
      if (!part.closed || part.chunks.length > 0) continue;
      process.exitCode = part.exitCode ?? EXIT.failure;
      return;
    }
    stopTyping();
    say("the program keeps running, for as long as the server keeps a session without a client");
  } catch (cause) {
    throw new CommandError(`the program cannot be read: ${messageOf(cause)}`, EXIT.failure, { cause });
  } finally {
    stopTyping();
    await client.leave();
  }
}

/** What programs set at a terminal: screen, keys, mouse, pasting, styles and cursor. */
const RESET =
  "\x1b[?1049l\x1b[r\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[>4;m\x1b[?7h\x1b[?25h\x1b[0m";

/** Returns a function that restores the terminal. */
function passKeys(program: RunningProcess, leave: () => void): () => void {
  const resize = (size: { rows: number; cols: number }) => void program.resize(size).catch(() => {}); // it has ended
  let terminal = takeTerminal(resize);
  const resizeToOwn = () => {
    const size = getTerminalSize();
    if (size !== undefined) resize(size);
  };
  resizeToOwn();
  const suspend = () => {
    terminal.restore();
    process.once("SIGCONT", () => {
      terminal = takeTerminal(resize);
      resizeToOwn();
    });
    process.kill(process.pid, "SIGTSTP");
  };
  let isOver = false;
  const escapes = new LineEscapes();
  const take = (bytes: Buffer) => {
    const { passed, key, rest } = escapes.read(bytes);
    if (passed.length > 0) void program.write(passed).catch(() => {}); // its end is told by its output
    if (key === "leave") return leave();
    if (key === "suspend") suspend();
    if (key === "help") for (const line of escapeHelp("the program keeps running")) say(line);
    if (rest.length > 0) take(rest);
  };
  process.stdin.on("data", take);
  return () => {
    if (isOver) return;
    isOver = true;
    process.stdin.off("data", take);
    terminal.restore();
    process.stdout.write(RESET);
    process.stdin.destroy();
  };
}
