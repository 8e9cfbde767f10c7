import { createMemoryChannelPair } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import { createExecutor } from "@codex/executor";
import type { Orchestrator } from "@codex/orchestrator";
import { parseMcpServers } from "../config/parse-servers.js";
import type { McpServerConfig } from "../config/server-config.js";
import { MAX_WARNINGS, STARTUP_GRACE_MS } from "../limits.js";
import { prefixOf } from "../tools/names.js";
import { type ConnectOptions, type McpServerState, type McpServers, startMcpServers } from "./connect-servers.js";
import type { McpPlace } from "./server-transport.js";

/** What MCP servers beside an orchestrator are started with. */
export interface McpToolsOptions extends ConnectOptions {
  /** Environment of servers that name none, such as `local`: their calls are judged and shown as calls there. */
  defaultEnvironment: string;
  /** Directory of the work in an environment, absolute, where servers start; undefined: the environment's own. */
  cwdOf?: (environment: string) => string | undefined;
  /** Name of the one tool that is needed: only its server is started. Default: all are. */
  tool?: string | undefined;
}

/** MCP servers whose tools an orchestrator has beside those of its environments. */
export interface McpTools {
  /**
   * Gives their tools to an orchestrator, those of slow servers later. Waits for servers that are required, and for others until
   * the grace is over, or for all. @throws McpServerError where a required one has failed, OrchestratorError
   */
  attachTo(orchestrator: Pick<Orchestrator, "attach">, options?: { waitsForAll?: boolean }): Promise<void>;
  /** What a person should know that was not said before: servers that have failed or are slow, tools that are left out. At most 20. */
  takeWarnings(): string[];
  /** Ends the servers and what they started. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Starts the MCP servers of a configuration without waiting. Their tools are judged as tools of their environment. The caller closes them.
 * @param table as `config.toml` has it: `mcp_servers`, and `mcp_optional_startup_grace_ms` (default 1000), the time that servers which are
 * not required are waited for. @throws McpConfigError
 */
export function openMcpTools(table: Readonly<Record<string, unknown>>, options: McpToolsOptions): McpTools {
  const { defaultEnvironment, cwdOf = () => undefined, tool, clock = systemClock } = options;
  const { mcp_optional_startup_grace_ms: ms } = table;
  // The name of a server that is not started stays taken.
  const configs = parseMcpServers(table.mcp_servers).map((config) =>
    tool === undefined || tool.startsWith(prefixOf(config.name)) ? config : { ...config, enabled: false },
  );
  const servers = startMcpServers(configs, {
    ...options,
    getEnvironment: async (id) => inDirectory(await options.getEnvironment(id), cwdOf(id ?? defaultEnvironment)),
  });
  const grace = startGrace(clock, typeof ms === "number" && ms >= 0 ? ms : STARTUP_GRACE_MS);
  const environmentOf = ({ environmentId = defaultEnvironment }: McpServerConfig) => environmentId;
  const said = new Set<string>();
  return {
    async attachTo(orchestrator, { waitsForAll = false } = {}) {
      await servers.untilStarted(waitsForAll ? {} : { graceMs: grace.left() });
      const ids = new Set(configs.filter(({ enabled }) => enabled).map(environmentOf));
      await Promise.all(
        Array.from(ids, async (id, at) => {
          const channel = serveTools(servers, (config) => environmentOf(config) === id);
          await orchestrator.attach({ name: `mcp.${at}`, channel, toolsFor: id });
        }),
      );
    },
    takeWarnings() {
      const fresh = servers.states.flatMap(describe).filter((warning) => !said.has(warning));
      for (const warning of fresh) said.add(warning);
      return fresh.slice(0, MAX_WARNINGS);
    },
    close: () => servers.close(),
  };
}

/** Servers start in the directory of the work, unless their configuration names another. */
const inDirectory = (place: McpPlace, cwd: string | undefined): McpPlace => ({
  id: place.id,
  backend: place.backend,
  http: place.http,
  info: () => (cwd === undefined ? place.info() : Promise.resolve({ cwd })),
});

function startGrace(clock: Clock, graceMs: number) {
  const began = clock.now();
  return { left: () => Math.max(0, graceMs - (clock.now() - began)) };
}

/** An executor of these tools alone: the one of an environment may be elsewhere, and takes no tools. */
function serveTools(servers: McpServers, includes: (config: McpServerConfig) => boolean) {
  const executor = createExecutor({ backend: NO_PROCESSES, sessionTools: false });
  servers.addTo(executor.tools, { includes });
  const [ours, its] = createMemoryChannelPair();
  void executor.serve(its, { resumable: false });
  return ours;
}

const NO_PROCESSES: ExecBackend = {
  start: () => Promise.reject(new Error("this executor starts no processes")),
  close: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

function describe({ name, status, reason, leftOut }: McpServerState): string[] {
  const server = `MCP server \`${name}\``;
  const problems = leftOut.map(({ tool, reason: why }) => `tool \`${tool}\` of ${server} is left out: ${why}`);
  switch (status) {
    case "failed":
      return [`${server} has failed: ${reason ?? "it has ended"}`, ...problems];
    case "starting":
      return [`${server} is still starting; its tools are offered when it is ready`];
    default:
      return problems;
  }
}
