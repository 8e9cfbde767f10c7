import type { Channel } from "@codex/channel";
import { type Connector, connectStdio, connectWebSocket } from "@codex/orchestrator";
import { CommandError, EXIT } from "./exit-codes.js";
import { readToken } from "./token-file.js";

export interface ConnectOptions {
  /** `ws://…`, or a command line; undefined for an executor in this process. */
  executor?: string;
  tokenFile?: string;
}

/** How the executor is attached that the options name: one on a websocket is reached again when its channel is lost. */
export function attachExecutor(options: ConnectOptions): { channel: Promise<Channel> } | { reconnect: Connector } {
  const { executor } = options;
  if (executor === undefined || !/^wss?:\/\//.test(executor)) return { channel: connectExecutor(options) };
  return { reconnect: (signal) => connectExecutor(options, signal) };
}

/** Opens the channel to the executor that the options name. The caller owns it. */
export async function connectExecutor({ executor, tokenFile }: ConnectOptions, signal?: AbortSignal): Promise<Channel> {
  if (executor === undefined) return (await import("./own-executor.js")).startOwnExecutor();
  if (/^wss?:\/\//.test(executor)) {
    if (!URL.canParse(executor)) {
      throw new CommandError(`--executor ${JSON.stringify(executor)} is no valid address`, EXIT.usage);
    }
    const token = readToken(tokenFile);
    const giveUp = signal === undefined ? {} : { signal };
    return connectWebSocket(executor, { ...giveUp, ...(token === undefined ? {} : { token }) });
  }
  if (executor.trim() === "") throw new CommandError("--executor is empty", EXIT.usage);
  // The user's own command line, for a shell to read. What it says on stderr is for the user.
  const onStderr = (bytes: Uint8Array) => void process.stderr.write(bytes);
  return connectStdio({ command: "/bin/sh", args: ["-c", replacingShell(executor)], onStderr });
}

/**
 * A line of plain words runs in place of the shell, which would wait for its end with all of the environment on show to
 * what the executor runs.
 */
const replacingShell = (line: string): string =>
  PLAIN_WORDS.test(line) && !FOR_SHELLS.test(line) ? `exec ${line}` : line;

const PLAIN_WORDS = /^\s*[\w@%+:,./-]+(\s+[\w@%+=:,./-]+)*\s*$/;

/** First words that only a shell knows. */
const FOR_SHELLS =
  /^\s*(builtin|case|cd|command|eval|exec|export|for|if|set|time|trap|ulimit|umask|until|wait|while)\s/;
