import { isHoldTime } from "@codex/mcp";
import { answerFirstRequest } from "@codex/mcp/handshake";
import { isStdio, VERSION } from "@codex/servers";
import type { McpServerCommandOptions } from "../commands/mcp-server.js";

/** `codex mcp-server` on its own: the first request is answered before everything else is loaded. Sets the exit code; never rejects. */
export async function run(_name: string, options: McpServerCommandOptions): Promise<void> {
  const beginning = waitsForClient(options) ? answerFirstRequest(VERSION) : undefined;
  if (beginning?.input.length === 0) return; // stdin has ended
  const { runMcpServer } = await import("../commands/mcp-server.js");
  const { runToEnd } = await import("../run-to-end.js");
  const { reportError } = await import("../report-error.js");
  await runToEnd(() => runMcpServer(options, beginning), reportError);
}

/** Whether nothing else is to be done before there is a client, such as refusing an option. */
const waitsForClient = ({ listen, maxHold, printConfig, view, ...options }: McpServerCommandOptions): boolean =>
  isStdio(listen) &&
  isHoldTime(Math.round(maxHold * 1000)) &&
  printConfig === undefined &&
  view !== true &&
  (options.listenTokenFile ?? options.allowedHost ?? options.tlsCert ?? options.tlsKey) === undefined;
