import { type Clock, systemClock, waitAtMost } from "@codex/clock";
import type { ExecutorTool, ToolRegistry } from "@codex/executor";
import { defined, messageOf } from "@codex/values";
import type { McpServerConfig } from "../config/server-config.js";
import type { CredentialStore } from "../oauth/credential-store.js";
import { listLibraryTools } from "../tools/library-tools.js";
import { findNameProblem, prefixOf } from "../tools/names.js";
import { type LeftOut, listTools } from "../tools/server-tools.js";
import type { AskPerson } from "./questions.js";
import { McpServer, type McpServerStatus } from "./server.js";
import type { McpPlace } from "./server-transport.js";

/** What `connectMcpServers` needs besides the configuration. */
export interface ConnectOptions {
  /**
   * Resolves the environment that runs a server or makes its requests; `id` is undefined for the default one. If it throws, the
   * server fails with that error: it is never run elsewhere.
   */
  getEnvironment(id: string | undefined): McpPlace | Promise<McpPlace>;
  /** Values of the variables named in the configuration, such as that of a token. Default: those of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Logins of persons to HTTP servers. Without it, a server that wants a login fails. */
  credentials?: CredentialStore | undefined;
  /** Passes questions of servers to the person. Without it, servers are told that nobody can be asked. */
  askPerson?: AskPerson | undefined;
  /** Aborts servers that are still starting. */
  signal?: AbortSignal;
  clock?: Clock;
}

/** The state of one server. */
export interface McpServerState {
  name: string;
  status: McpServerStatus | "disabled";
  /** Why it failed, without tokens, configured values, or the user and query of a URL. */
  reason?: string;
  /** Names of its tools, as shown to a model. */
  tools: readonly string[];
  /** Omitted tools, and why. */
  leftOut: readonly LeftOut[];
}

/** Started MCP servers and their tools. */
export interface McpServers extends AsyncDisposable {
  /** In the order of the configuration. */
  readonly states: readonly McpServerState[];
  /**
   * Resolves when each server is ready or has failed. Waits for servers that are not `required` at most `graceMs` milliseconds, by
   * default without limit; their tools are added later. @throws McpServerError when a required server has failed
   */
  untilStarted(options?: { graceMs?: number }): Promise<void>;
  /** Tools of all started servers. Calls to a server that has ended since fail with the reason. */
  readonly tools: readonly ExecutorTool[];
  /** Tools with which a model finds and reads the resources and prompts of all servers; none if no server has any. */
  readonly libraryTools: readonly ExecutorTool[];
  /** Called after each change of a state or of the tools. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
  /**
   * Adds all of them to an executor, and updates them after each change. A name that the executor already has is skipped and
   * reported to `onProblem`. Returns a function that removes them.
   */
  addTo(registry: Pick<ToolRegistry, "add">, options?: AddOptions): () => void;
  /** Ends the servers and what they started. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** How tools are added to an executor. */
export interface AddOptions {
  /** Selects the servers whose tools are added; default all. */
  includes?: (config: McpServerConfig) => boolean;
  /** Whether `libraryTools` are added, which are those of all servers; default true. */
  hasLibrary?: boolean;
  onProblem?: (problem: string) => void;
}

/** A required server has failed. */
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
 * Starts all enabled servers concurrently. Resolves when each is ready or has failed, within its own time limit; a failure
 * does not affect the others. The official client is loaded only when there is a server to start.
 * @throws McpServerError when a required server has failed; all are closed first
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

/** Like `connectMcpServers`, but does not wait. The caller closes them. */
export function startMcpServers(configs: readonly McpServerConfig[], options: ConnectOptions): McpServers {
  const { getEnvironment, env = process.env, credentials, askPerson, clock = systemClock, signal } = options;
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  const names = configs.map(({ name }) => name);
  const started = configs.map((config, index) => {
    if (!config.enabled) return { config };
    const problem = findNameProblem(config.name) ?? findConflict(config.name, names.slice(0, index));
    if (problem !== undefined) return { config, problem };
    const getPlace = async () => getEnvironment(config.environmentId);
    return {
      config,
      server: new McpServer(config, { getPlace, env, credentials, askPerson, clock, onChange: notify }),
    };
  });
  const closing = new AbortController();
  const startSignal = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  const starting = started.map(({ config, server }) => ({
    isRequired: config.required,
    ready: server?.start(startSignal) ?? Promise.resolve(),
  }));
  return new ConnectedServers(started, { names, listeners, starting, clock, closing });
}

function findConflict(name: string, earlier: readonly string[]): string | undefined {
  const other = earlier.find((each) => prefixOf(each) === prefixOf(name));
  return other === undefined ? undefined : `its tools would have the same names as those of the server \`${other}\``;
}

interface Started {
  config: McpServerConfig;
  /** Absent when it is disabled or its name is rejected. */
  server?: McpServer;
  problem?: string;
}

/** State common to all servers. */
interface Shared {
  names: readonly string[];
  listeners: Set<() => void>;
  starting: readonly { isRequired: boolean; ready: Promise<void> }[];
  clock: Clock;
  /** Aborts servers that are still starting. */
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
        ...defined({ reason }),
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

  get libraryTools(): ExecutorTool[] {
    return listLibraryTools(this.#started.flatMap(({ server }) => server?.library ?? []));
  }

  onChange(listener: () => void): () => void {
    this.#shared.listeners.add(listener);
    return () => this.#shared.listeners.delete(listener);
  }

  addTo(
    registry: Pick<ToolRegistry, "add">,
    { includes = () => true, hasLibrary = true, onProblem = () => {} }: AddOptions = {},
  ): () => void {
    const added = new Map<string, { text: string; remove: () => void }>();
    const update = () => {
      const all = [...this.#toolsOf(includes), ...(hasLibrary ? this.libraryTools : [])];
      const wanted = new Map(all.map((tool) => [tool.spec.name, tool]));
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
    // Also ends servers that are still starting.
    this.#shared.closing.abort(new Error("the MCP servers were closed"));
    await Promise.all(this.#started.map(({ server }) => server?.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
