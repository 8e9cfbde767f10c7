import { type Clock, systemClock, waitAtMost } from "@codex/clock";
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
  /**
   * Resolves when each is ready or has failed. Servers that are not `required` are waited for at most `graceMs` milliseconds from now,
   * default without limit; their tools come later then. @throws McpServerError when a server that is required has failed
   */
  untilStarted(options?: { graceMs?: number }): Promise<void>;
  /** Of the servers that were started. Those of one that has ended since answer with the reason. */
  readonly tools: readonly ExecutorTool[];
  /** Called after each change of a state or of the tools. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
  /**
   * Makes the tools those of an executor, now and after each change. A name that the executor has already is left out, and
   * passed to `onProblem`. Returns a function that removes them.
   */
  addTo(registry: Pick<ToolRegistry, "add">, options?: AddOptions): () => void;
  /** Ends the servers and what they started. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** How tools are added to an executor. */
export interface AddOptions {
  /** The servers whose tools are added; default all. */
  includes?: (config: McpServerConfig) => boolean;
  onProblem?: (problem: string) => void;
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
  const servers = startMcpServers(configs, options);
  try {
    await servers.untilStarted();
    return servers;
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/** As `connectMcpServers`, without waiting. The caller closes them. */
export function startMcpServers(configs: readonly McpServerConfig[], options: ConnectOptions): McpServers {
  const { getEnvironment, env = process.env, clock = systemClock, signal } = options;
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
  const starting = started.map(({ config, server }) => ({
    isRequired: config.required,
    ready: server?.start(given) ?? Promise.resolve(),
  }));
  return new ConnectedServers(started, { names, listeners, starting, clock, closing });
}

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

/** What the servers share. */
interface Shared {
  names: readonly string[];
  listeners: Set<() => void>;
  starting: readonly { isRequired: boolean; ready: Promise<void> }[];
  clock: Clock;
  /** Aborts what is still starting. */
  closing: AbortController;
}

class ConnectedServers implements McpServers {
  readonly #started: readonly Started[];
  readonly #shared: Shared;

  constructor(started: readonly Started[], shared: Shared) {
    this.#started = started;
    this.#shared = shared;
  }

  async untilStarted({ graceMs }: { graceMs?: number } = {}): Promise<void> {
    const { starting, clock } = this.#shared;
    const wait = (isRequired: boolean) =>
      Promise.all(starting.filter((one) => one.isRequired === isRequired).map(({ ready }) => ready));
    const optional = wait(false);
    await Promise.all([wait(true), graceMs === undefined ? optional : waitAtMost(clock, graceMs, optional)]);
    const required = new Set(this.#started.filter(({ config }) => config.required).map(({ config }) => config.name));
    const failed = this.states.find(({ name, status }) => status === "failed" && required.has(name));
    if (failed !== undefined) throw new McpServerError(failed.name, failed.reason ?? "it has ended");
  }

  get states(): McpServerState[] {
    return this.#started.map(({ config: { name, enabled }, server, problem }) => {
      const { tools, leftOut } =
        server === undefined ? { tools: [], leftOut: [] } : listTools(server, this.#shared.names);
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
    return this.#toolsOf(() => true);
  }

  #toolsOf(includes: (config: McpServerConfig) => boolean): ExecutorTool[] {
    return this.#started.flatMap(({ config, server }) =>
      server === undefined || !includes(config) ? [] : listTools(server, this.#shared.names).tools,
    );
  }

  onChange(listener: () => void): () => void {
    this.#shared.listeners.add(listener);
    return () => this.#shared.listeners.delete(listener);
  }

  addTo(
    registry: Pick<ToolRegistry, "add">,
    { includes = () => true, onProblem = () => {} }: AddOptions = {},
  ): () => void {
    const added = new Map<string, { text: string; remove: () => void }>();
    const update = () => {
      const wanted = new Map(this.#toolsOf(includes).map((tool) => [tool.spec.name, tool]));
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
    // Ends also what is still starting.
    this.#shared.closing.abort(new Error("the MCP servers were closed"));
    await Promise.all(this.#started.map(({ server }) => server?.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
