import type { McpServers } from "@codex/mcp";
import { listenMcp } from "@codex/mcp/http";
import type { Orchestrator } from "@codex/orchestrator";
import {
  type DrainArguments,
  isLoopback,
  type OpenedTelemetry,
  openServing,
  openTelemetry,
  parseHttpListenUrl,
  type TelemetryArguments,
  type TlsArguments,
  watchListenToken,
  watchTlsIdentity,
} from "@codex/servers";
import { defined } from "@codex/values";
import { shieldIfPossible } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { say } from "../notice.js";

/** Options of the HTTP listener. */
export interface HttpArguments extends TlsArguments, TelemetryArguments, DrainArguments {
  /** `http://HOST:PORT`, `https://HOST:PORT` or `fd://`. */
  listen: string;
  /** Files with the bearer tokens of HTTP clients, one file per client. */
  listenTokenFile?: string[];
  /** Names by which HTTP clients reach the listener, in addition to its address. */
  allowedHost?: string[];
}

/** The HTTP listener before it listens. */
export interface HttpPlace {
  readonly telemetry: OpenedTelemetry;
  /** Serves until a signal. */
  serve(servers: McpServers, open: () => Promise<Orchestrator>): Promise<void>;
}

/** Reads the options of the HTTP listener. @throws CommandError */
export async function openHttp(options: HttpArguments): Promise<HttpPlace> {
  const { listenTokenFile, allowedHost: allowedHosts = [] } = options;
  const { host, port, fd, isTls } = parseHttpListenUrl(options.listen, "stdio://, ");
  const tls = watchTlsIdentity(options, FILE_LOG);
  if (isTls !== undefined && isTls !== (tls !== undefined)) {
    throw new CommandError("--listen https:// and --tls-cert with --tls-key need each other", EXIT.usage);
  }
  const files = listenTokenFile?.map((path, index) => ({
    read: watchListenToken(path, FILE_LOG, "--listen-token-file"),
    client: `token-${index + 1}`,
  }));
  const tokens = files && (() => files.map(({ read, client }) => ({ token: read?.() ?? "", client })));
  if (tokens === undefined && !isLoopback(host)) {
    throw new CommandError(
      `${host} can be reached from other machines, and an MCP client can run programs: give --listen-token-file`,
      EXIT.usage,
    );
  }
  const telemetry = await openTelemetry("mcp-server", options, true);
  const { log, pages } = telemetry;
  return {
    telemetry,
    async serve(servers, open) {
      await open();
      const serving = openServing(log, options, [tls, tokens]);
      // Other programs of this user could read its tokens.
      shieldIfPossible();
      const listener = await listenMcp(servers, { host, port, allowedHosts, ...defined({ fd, tls, tokens, pages }) });
      serving.announce(listener.url);
      await serving.stopped;
      await servers.drain({ waitMs: serving.drainMs });
      await listener.close();
      serving.close();
    },
  };
}

const FILE_LOG = {
  info: (message: string, { path }: { path: string }) => say(`${message}: ${path}`),
  error: (message: string, { path, reason }: { path: string; reason: string }) => say(`${message}: ${path}: ${reason}`),
};
