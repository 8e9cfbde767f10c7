import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { defined } from "@codex/values";
import { ClientError } from "../errors.js";
import { SERVER_GRACE_MS } from "../limits.js";

/** How to start an exec-server that communicates over its stdin and stdout. */
export interface ServerCommand {
  command: string;
  args?: readonly string[];
  cwd?: string;
  /** Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Default `inherit`. */
  stderr?: "inherit" | "ignore";
}

export type ServerChild = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a server. @throws ClientError `spawn_failed` */
export async function spawnServer({ command, args = [], cwd, env, stderr }: ServerCommand): Promise<ServerChild> {
  const child: ServerChild = spawn(command, args, {
    stdio: ["pipe", "pipe", stderr ?? "inherit"],
    ...defined({ cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  }) as ServerChild; // the overload for these stdio values does not take a variable for stderr
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => {
      reject(new ClientError("spawn_failed", `\`${command}\` could not be started: ${cause.message}`, { cause }));
    });
  });
  child.on("error", () => {}); // such as a signal that could not be sent; the exit is what counts
  return child;
}

/** Ends a server: end of input, then SIGTERM, then SIGKILL. Resolves when it has exited; never rejects. */
export async function endChild(child: ServerChild): Promise<void> {
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin.end();
  const timers = [
    setTimeout(() => child.kill("SIGTERM"), SERVER_GRACE_MS),
    setTimeout(() => child.kill("SIGKILL"), 2 * SERVER_GRACE_MS),
  ];
  await exited;
  for (const timer of timers) clearTimeout(timer);
}
