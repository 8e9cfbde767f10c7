import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The command of this project, as compiled from the sources. */
export const OWN_COMMAND = `"${process.execPath}" "${fileURLToPath(new URL("../../../cli/dist/tsc/main.js", import.meta.url))}"`;

const BUNDLE = fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url));

/** The bundled command, if it was built. */
export const SHIPPED_COMMAND = existsSync(BUNDLE) ? `"${process.execPath}" "${BUNDLE}"` : OWN_COMMAND;

/** An exec-server, or an executor that listens on a websocket, in a separate process. */
export interface PeerServer {
  url: string;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves once the process has ended. */
  close(): Promise<void>;
}

/** Longest time to the first line, and from a signal to the exit, milliseconds. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Starts a shell command that prints `ws://IP:PORT` as its first line.
 * @throws Error when it ends before that or takes too long; `kill` and `close` also reject when they take too long
 */
export async function startPeerServer(command: string): Promise<PeerServer> {
  const home = mkdtempSync(join(tmpdir(), "faults-home-"));
  const child = spawn("/bin/sh", ["-c", `exec ${command}`], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, CODEX_HOME: home },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const orKill = <T>(what: string, work: Promise<T>) => {
    const late = () => {
      child.kill("SIGKILL");
      return new Error(`\`${command}\`: ${what} took more than ${LONGEST_WAIT_MS} ms`);
    };
    return beforeLong(work, late);
  };
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await orKill(`its end after ${signal}`, exited);
    rmSync(home, { recursive: true, force: true });
  };
  const url = await orKill("printing its address", readUrl(child, command));
  return { url, kill: () => end("SIGKILL"), close: () => end("SIGTERM") };
}

/** @throws the error from `late` when `work` takes too long */
async function beforeLong<T>(work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), LONGEST_WAIT_MS);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function readUrl(child: ChildProcess, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`\`${command}\` ended before it printed its address`)));
    createInterface({ input: child.stdout! }).once("line", (line) =>
      resolve(line.replace(/^.*?(ws:\/\/\S+).*$/, "$1")),
    );
  });
}
