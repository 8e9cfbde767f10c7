import type { Channel } from "@codex/channel";
import { connectStdio, connectWebSocket } from "@codex/orchestrator";
import { CommandError, EXIT } from "./exit-codes.js";
import { readToken } from "./token-file.js";

export interface ConnectOptions {
  /** `ws://…`, or a command line; undefined for an executor in this process. */
  executor?: string;
  tokenFile?: string;
}

/** Opens the channel to the executor that the options name. The caller owns it. */
export async function connectExecutor({ executor, tokenFile }: ConnectOptions): Promise<Channel> {
  if (executor === undefined) return (await import("./own-executor.js")).startOwnExecutor();
  if (/^wss?:\/\//.test(executor)) {
    if (!URL.canParse(executor)) {
      throw new CommandError(`--executor ${JSON.stringify(executor)} is no valid address`, EXIT.usage);
    }
    const token = readToken(tokenFile);
    return connectWebSocket(executor, token === undefined ? {} : { token });
  }
  if (executor.trim() === "") throw new CommandError("--executor is empty", EXIT.usage);
  // The user's own command line, for a shell to read. What it says on stderr is for the user.
  const onStderr = (bytes: Uint8Array) => void process.stderr.write(bytes);
  return connectStdio({ command: "/bin/sh", args: ["-c", executor], onStderr });
}
