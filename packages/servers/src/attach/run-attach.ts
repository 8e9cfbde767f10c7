import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { runBridge } from "../background/bridge.js";
import { connectToServer, type Joined, joinServer } from "../background/connect.js";
import { closeInherited } from "../background/inherited.js";
import { STOP_MS } from "../background/limits.js";
import { openSocketPlace, type SocketPlace } from "../background/socket-place.js";
import { startServer } from "../background/start-server.js";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";
import { openStdout } from "../process/host-process.js";
import { withoutNodeOptions } from "../process/node-options.js";
import { VERSION } from "../process/version.js";

/** Options of `codex executor|exec-server --attach`, in addition to those of the server. */
export interface AttachArguments {
  attach?: boolean;
  status?: boolean;
  stop?: boolean;
}

/** Bridges stdin and stdout to the user's background server, and starts it if needed; or queries or stops it. */
export async function runAttach(role: "executor" | "exec-server", options: AttachArguments): Promise<void> {
  const words = process.argv.slice(2);
  checkWords(words);
  closeInherited();
  const file = realpathSync(process.argv[1]!);
  const place = openSocketPlace(nameServer(role, file, options));
  if (options.status) return showStatus(place);
  if (options.stop) return stopServer(place);
  const { socket } = await joinServer(place, () => {
    const argv = [process.execPath, file, ...words.filter((word) => !BRIDGE_WORDS.has(word))] as const;
    return startServer(place, {
      argv: [...argv, "--serve-socket", place.path],
      cwd: homedir(),
      env: withoutConnection(withoutNodeOptions()),
    });
  });
  const end = await runBridge({ input: process.stdin, output: openStdout(), socket });
  if (end === "ended") throw new CommandError(`the background ${role} has ended; its log is ${place.log}`);
}

const BRIDGE_WORDS: ReadonlySet<string> = new Set(["--attach", "--status", "--stop"]);

/** Options that have no effect with the command's own socket. */
const LISTENER_WORDS =
  /^--(listen|token-file|tls-cert|tls-key|ws-[a-z0-9-]+|allow-insecure-listen|metrics|deterministic-ids)(=|$)/;
/** Options with paths, which the server would resolve against another directory. */
const PATH_WORDS = /^--(allowed-root|log-file)(?:=(.*))?$/s;

function checkWords(words: readonly string[]): void {
  for (const [at, word] of words.entries()) {
    const listener = LISTENER_WORDS.exec(word)?.[1];
    if (listener !== undefined)
      throw refuse(`--${listener} cannot be combined with --attach, which uses its own socket`);
    const [, name, inline] = PATH_WORDS.exec(word) ?? [];
    const path = inline ?? words[at + 1] ?? "";
    if (name !== undefined && !isAbsolute(path)) {
      throw refuse(`--${name} ${JSON.stringify(path)}: with --attach it has to be absolute`);
    }
  }
}

const refuse = (message: string): CommandError => new CommandError(message, SERVER_EXIT.usage);

/**
 * Identifies a server: commands share one only with the same program version and the same options, and so the same ceiling.
 */
function nameServer(role: string, file: string, options: AttachArguments): string {
  const { size, mtimeMs } = statSync(file);
  const serving = Object.entries(options).filter(([name]) => !OWN_OPTIONS.has(name));
  const identity = [
    VERSION,
    file,
    size,
    mtimeMs,
    process.env.CODEX_HOME ?? "",
    serving.sort(([a], [b]) => (a < b ? -1 : 1)),
  ];
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 12);
  return `${role}-${VERSION}-${digest}`;
}

/** Options that do not change what the server permits. */
const OWN_OPTIONS: ReadonlySet<string> = new Set([
  ...["attach", "status", "stop", "idleTimeout", "resumeGrace"],
  ...["logLevel", "logFile", "logFormat"],
]);

/** Variables of one ssh connection, which the server outlives. */
function withoutConnection(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const { SSH_CLIENT: _client, SSH_TTY: _tty, SSH_CONNECTION: connection, SSH_AUTH_SOCK: agent, ...rest } = env;
  // The socket of a forwarded agent is removed with the connection.
  return connection === undefined && agent !== undefined ? { ...rest, SSH_AUTH_SOCK: agent } : rest;
}

async function showStatus(place: SocketPlace): Promise<void> {
  const found = await connectToServer(place, "status");
  if (found === undefined) throw new CommandError("no background server is running");
  found.socket.destroy();
  const { pid, startedAt, connections, sessions } = found.greeting;
  const since = new Date(startedAt).toISOString();
  const lines = [
    `running: pid ${pid}, since ${since}, connections: ${connections}, sessions: ${sessions}`,
    `socket: ${place.path}`,
    `log: ${place.log}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function stopServer(place: SocketPlace): Promise<void> {
  const found = await connectToServer(place, "stop");
  if (found === undefined) {
    process.stdout.write("no background server is running\n");
    return;
  }
  if (!(await hasEnded(found))) {
    throw new CommandError(`the background server, pid ${found.greeting.pid}, has not ended within ${STOP_MS} ms`);
  }
  process.stdout.write("stopped\n");
}

function hasEnded({ socket }: Joined): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), STOP_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.once("end", () => socket.destroy());
    socket.resume();
  }).finally(() => socket.destroy()) as Promise<boolean>; // `finally` keeps the value
}
