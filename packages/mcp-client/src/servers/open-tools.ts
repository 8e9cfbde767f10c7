import { createMemoryChannelPair } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import { createExecutor } from "@codex/executor";
import type { Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { parseMcpServers } from "../config/parse-servers.js";
import type { McpServerConfig } from "../config/server-config.js";
import { MAX_NAMED_TOOLS, MAX_WARNINGS, STARTUP_GRACE_MS } from "../limits.js";
import { isLibraryTool } from "../tools/library-tools.js";
import { prefixOf } from "../tools/names.js";
import {
  type AddOptions,
  type ConnectOptions,
  type McpServerState,
  type McpServers,
  startMcpServers,
} from "./connect-servers.js";
import type { McpPlace } from "./server-transport.js";

/** How MCP servers are started whose tools an orchestrator offers itself. */
export interface McpToolsOptions extends ConnectOptions {
  /** Environment of servers that name none, such as `local`: policy and approvals treat their calls as calls there. */
  defaultEnvironment: string;
  /** Absolute directory against which a server's `cwd` is resolved in an environment; undefined for the environment's own. */
  cwdOf?: (environment: string) => string | undefined;
  /** Name of the only tool needed: only its server is started, or all of them for one that is of all. Default: all are. */
  tool?: string | undefined;
}

/** MCP servers whose tools an orchestrator offers in addition to those of its environments. */
export interface McpTools {
  /**
   * Adds their tools to an orchestrator, those of slow servers later. Waits for required servers, and for others until
   * the grace period is over, or for all. @throws McpServerError when a required one has failed, OrchestratorError
   */
  attachTo(orchestrator: Pick<Orchestrator, "attach">, options?: { waitsForAll?: boolean }): Promise<void>;
  /** The server to which a tool of this name (`mcp__server__tool`) belongs; undefined when none is configured. */
  findServer(tool: string): McpServerState | undefined;
  /** New warnings for the user: servers that have failed or are slow, and omitted tools. At most 20; each is returned once. */
  takeWarnings(): string[];
  /** Ends the servers and what they started. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Starts the configured MCP servers without waiting. Policy treats their tools as tools of their environment. The caller closes them.
 * @param table the parsed `config.toml`: `mcp_servers`, and `mcp_optional_startup_grace_ms` (default 1000), how long to wait for servers that are
 * not required. @throws McpConfigError
 */
export function openMcpTools(table: Readonly<Record<string, unknown>>, options: McpToolsOptions): McpTools {
  const { defaultEnvironment, cwdOf = () => undefined, tool, clock = systemClock } = options;
  const { mcp_optional_startup_grace_ms: ms } = table;
  // A server that is not started still reserves its name.
  const configs = parseMcpServers(table.mcp_servers).map((config) =>
    tool === undefined || isLibraryTool(tool) || tool.startsWith(prefixOf(config.name))
      ? config
      : { ...config, enabled: false },
  );
  const servers = startMcpServers(configs, {
    ...options,
    getEnvironment: async (id) => inDirectory(await options.getEnvironment(id), cwdOf(id ?? defaultEnvironment)),
  });
  const grace = startGrace(clock, typeof ms === "number" && ms >= 0 ? ms : STARTUP_GRACE_MS);
  const environmentOf = ({ environmentId = defaultEnvironment }: McpServerConfig) => environmentId;
  const reported = new Set<string>();
  return {
    async attachTo(orchestrator, { waitsForAll = false } = {}) {
      await servers.untilStarted(waitsForAll ? {} : { graceMs: grace.left() });
      // What is of all servers is offered once, and read from where the model is.
      const ids = new Set([defaultEnvironment, ...configs.filter(({ enabled }) => enabled).map(environmentOf)]);
      await Promise.all(
        Array.from(ids, async (id, at) => {
          const channel = serveTools(servers, {
            includes: (config) => environmentOf(config) === id,
            hasLibrary: id === defaultEnvironment,
          });
          await orchestrator.attach({ name: `mcp.${at}`, channel, toolsFor: id });
        }),
      );
    },
    findServer(tool) {
      const named = servers.states.filter(({ name }) => tool.startsWith(prefixOf(name)));
      return named.toSorted((one, other) => other.name.length - one.name.length)[0];
    },
    takeWarnings() {
      const fresh = servers.states.flatMap(describe).filter((warning) => !reported.has(warning));
      for (const warning of fresh) reported.add(warning);
      return fresh.slice(0, MAX_WARNINGS);
    },
    close: () => servers.close(),
  };
}

const inDirectory = (place: McpPlace, cwd: string | undefined): McpPlace => ({
  id: place.id,
  backend: place.backend,
  http: place.http,
  info: async () => ({ ...(await place.info()), ...defined({ cwd }) }),
});

function startGrace(clock: Clock, graceMs: number) {
  const began = clock.now();
  return { left: () => Math.max(0, graceMs - (clock.now() - began)) };
}

/** A separate executor that offers only these tools, because an environment's executor may be remote and accepts none. */
function serveTools(servers: McpServers, options: AddOptions) {
  const executor = createExecutor({ backend: NO_PROCESSES, sessionTools: false });
  servers.addTo(executor.tools, options);
  const [clientEnd, executorEnd] = createMemoryChannelPair();
  void executor.serve(executorEnd, { resumable: false });
  return clientEnd;
}

const NO_PROCESSES: ExecBackend = {
  start: () => Promise.reject(new Error("this executor does not start processes")),
  close: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

function describe({ name, status, reason, leftOut }: McpServerState): string[] {
  const server = `MCP server \`${name}\``;
  const problems = describeLeftOut(server, leftOut);
  switch (status) {
    case "failed":
      return [`${server} has failed: ${reason ?? "it has ended"}`, ...problems];
    case "starting":
      return [`${server} is still starting; its tools are offered when it is ready`];
    default:
      return problems;
  }
}

/** One line for each reason, with the first tools by name. */
function describeLeftOut(server: string, leftOut: McpServerState["leftOut"]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { tool, reason } of leftOut) byReason.set(reason, [...(byReason.get(reason) ?? []), `\`${tool}\``]);
  return Array.from(byReason, ([reason, names]) => {
    const isOne = names.length === 1;
    const some = names.slice(0, MAX_NAMED_TOOLS).join(", ");
    const more = names.length > MAX_NAMED_TOOLS ? " and more" : "";
    return `${isOne ? "tool" : "tools"} ${some}${more} of ${server} ${isOne ? "is" : "are"} left out: ${reason}`;
  });
}
