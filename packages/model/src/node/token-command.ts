import { execFile } from "node:child_process";
import { systemClock } from "@codex/clock";
import { defined } from "@codex/values";
import { TOKEN_BYTES } from "../limits.js";
import { ModelError } from "../model-port.js";
import type { TokenCommand } from "../provider/provider.js";
import type { TokenReader } from "../responses/responses-model.js";

/**
 * Creates a reader that runs the provider's `auth` command on this host and caches its output, the token, until it expires or
 * is rejected.
 * @throws ModelError `unauthorized` naming the command, never its output; the reason of the signal
 */
export function createTokenReader(command: TokenCommand, clock = systemClock): TokenReader {
  let cached: { token: string; at: number } | undefined;
  return async (signal, refused) => {
    if (cached?.token === refused) cached = undefined;
    if (cached !== undefined && (command.refreshMs === 0 || clock.now() - cached.at < command.refreshMs)) {
      return cached.token;
    }
    const token = await runCommand(command, signal);
    cached = { token, at: clock.now() };
    return token;
  };
}

function runCommand({ command, args, cwd, timeoutMs }: TokenCommand, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const limits = { signal, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: TOKEN_BYTES } as const;
    const options = { ...limits, ...defined({ cwd }) };
    const fail = (problem: string) => reject(new ModelError("unauthorized", problem, { retry: "never" }));
    const child = execFile(command, [...args], options, (error, stdout) => {
      const token = stdout.trim();
      if (signal.aborted) reject(signal.reason);
      else if (error !== null) fail(`the token command ${command} failed: ${describe(error)}`);
      else if (token === "") fail(`the token command ${command} printed nothing`);
      else if (/[^\x21-\x7e]/.test(token))
        fail(`the output of the token command ${command} is not a token: it contains spaces or control characters`);
      else resolve(token);
    });
    child.stdin?.on("error", () => {}); // it may not read its input
    child.stdin?.end();
  });
}

function describe(error: { code?: number | string | null; signal?: NodeJS.Signals | null; killed?: boolean }): string {
  if (error.killed === true) return "it took too long";
  return error.signal ? `killed by ${error.signal}` : `exit ${String(error.code)}`;
}
