import type { Clock } from "@codex/clock";
import type { ExecutorTool, ToolRegistry } from "@codex/executor";
import { messageOf } from "@codex/telemetry";
import type { McpServerConfig } from "../config/server-config.js";
import { findNameProblem, prefixOf } from "../tools/names.js";
import { type LeftOut, listTools } from "../tools/server-tools.js";
import { McpServer, type McpServerStatus } from "./server.js";
import type { McpPlace } from "./server-transport.js";

/** What `connectMcpServers` needs besides the configuration. */
export interface ConnectOptions {
  /**
   * Where a server runs, or its requests are made; undefined for the default environment. What it throws is the reason why the
   * server has failed: no server runs anywhere else.
   */
  getEnvironment(id: string | undefined): McpPlace | Promise<McpPlace>;
  /** Variables that the configuration names, such as that of a token. Default: those of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Gives up what is still starting. */
  signal?: AbortSignal;
  clock?: Clock;
}

/** The state of one server. */
export interface McpServerState {
  name: string;
  status: McpServerStatus | "disabled";
  /** Why it has failed; holds no token, no configured value, and of a URL neither user nor query. */
  reason?: string;
  /** Names of its tools for a model. */
  tools: readonly string[];
  /** Tools that are left out, and why. */
  leftOut: readonly LeftOut[];
}

/** MCP servers that were started, and their tools. */
export interface McpServers extends AsyncDisposable {
  /** In the order of the configuration. */
  readonly states: readonly McpServerState[];
  /** Of the servers that were started. Those of one that has ended since answer with the reason. */
  readonly tools: readonly ExecutorTool[];
  /** Called after each change of a state or of the tools. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
  /**
   * Makes the tools those of an executor, now and after each change. A name that the executor has already is left out, and
   * passed to `onProblem`. Returns a function that removes them.
   */
  addTo(registry: Pick<ToolRegistry, "add">, onProblem?: (problem: string) => void): () => void;
  /** Ends the servers and what they started. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** A server that is `required` has failed. */
export class McpServerError extends Error {
  override readonly name = "McpServerError";

  constructor(
    readonly server: string,
    readonly reason: string,
  ) {
    super(`MCP server \`${server}\` is required, and has failed: ${reason}`);
  }
}

/**
 * Starts all servers that are enabled, at once. Resolves when each is ready or has failed, which its own time bounds; one that fails
 * stops no other. The official client is loaded when there is a server to start.
 * @throws McpServerError when a server that is required has failed: all are closed then
 */
export async function connectMcpServers(
  configs: readonly McpServerConfig[],
  options: ConnectOptions,
): Promise<McpServers> {
  const { getEnvironment, env = process.env, clock, signal } = options;
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  const names = configs.map(({ name }) => name);
  const started = configs.map((config, index) => {
    if (!config.enabled) return { config };
    const problem = findNameProblem(config.name) ?? findTaken(config.name, names.slice(0, index));
    if (problem !== undefined) return { config, problem };
    const getPlace = async () => getEnvironment(config.environmentId);
    return { config, server: new McpServer(config, { getPlace, env, clock, onChange: notify }) };
  });
  const closing = new AbortController();
  const given = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  await Promise.all(started.map(({ server }) => server?.start(given)));
  const servers = new ConnectedServers(started, names, listeners);
  const failed = servers.states.find(({ name, status }) => status === "failed" && isRequired(configs, name));
  if (failed === undefined) return servers;
  await servers.close();
  throw new McpServerError(failed.name, failed.reason ?? "it has ended");
}

const isRequired = (configs: readonly McpServerConfig[], name: string): boolean =>
  configs.some((config) => config.name === name && config.required);

function findTaken(name: string, earlier: readonly string[]): string | undefined {
  const other = earlier.find((each) => prefixOf(each) === prefixOf(name));
  return other === undefined ? undefined : `its tools would have the same names as those of the server \`${other}\``;
}

interface Started {
  config: McpServerConfig;
  /** Absent when it is disabled, or has a problem. */
  server?: McpServer;
  problem?: string;
}

class ConnectedServers implements McpServers {
  readonly #started: readonly Started[];
  readonly #names: readonly string[];
  readonly #listeners: Set<() => void>;

  constructor(started: readonly Started[], names: readonly string[], listeners: Set<() => void>) {
    this.#started = started;
    this.#names = names;
    this.#listeners = listeners;
  }

  get states(): McpServerState[] {
    return this.#started.map(({ config: { name, enabled }, server, problem }) => {
      const { tools, leftOut } = server === undefined ? { tools: [], leftOut: [] } : listTools(server, this.#names);
      const reason = problem ?? server?.reason;
      return {
        name,
        status: enabled ? (server?.status ?? "failed") : "disabled",
        ...(reason === undefined ? {} : { reason }),
        tools: tools.map(({ spec }) => spec.name),
        leftOut,
      };
    });
  }

  get tools(): ExecutorTool[] {
    return this.#started.flatMap(({ server }) => (server === undefined ? [] : listTools(server, this.#names).tools));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  addTo(registry: Pick<ToolRegistry, "add">, onProblem: (problem: string) => void = () => {}): () => void {
    const added = new Map<string, { text: string; remove: () => void }>();
    const update = () => {
      const wanted = new Map(this.tools.map((tool) => [tool.spec.name, tool]));
      for (const [name, { text, remove }] of added) {
        const tool = wanted.get(name);
        if (tool !== undefined && JSON.stringify(tool.spec) === text) continue;
        added.delete(name);
        remove();
      }
      for (const [name, tool] of wanted) {
        if (added.has(name)) continue;
        try {
          added.set(name, { text: JSON.stringify(tool.spec), remove: registry.add(tool) });
        } catch (error) {
          onProblem(`tool \`${name}\` is left out: ${messageOf(error)}`);
        }
      }
    };
    update();
    const stop = this.onChange(update);
    return () => {
      stop();
      for (const { remove } of added.values()) remove();
      added.clear();
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map(({ server }) => server?.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
