import { setImmediate, setTimeout } from "node:timers/promises";
import { createMcpServers, type McpHost, type McpServers, renderHostEntry, serveMcpStdio } from "@codex/mcp";
import type { StdioBeginning } from "@codex/mcp/handshake";
import type { Orchestrator } from "@codex/orchestrator";
import { isStdio, type OpenedTelemetry, onStopSignal, refuseOnStdio, VERSION } from "@codex/servers";
import { defined } from "@codex/values";
import { type EntryOptions, listEntryArguments } from "../mcp/entry-arguments.js";
import type { McpOrchestrator } from "../mcp/open-orchestrator.js";
import type { HttpArguments, HttpPlace } from "../mcp/serve-http.js";
import { print, say } from "../notice.js";

export interface McpServerCommandOptions extends EntryOptions, HttpArguments {
  view?: boolean;
  viewPort?: number;
  /** Print the entry for this host instead. */
  printConfig?: McpHost;
}

/**
 * Serves the tools over stdin and stdout until stdin ends, or over HTTP until a signal. Connects when tools are first listed or called.
 * @param beginning what was already read from stdin
 */
export async function runMcpServer(options: McpServerCommandOptions, beginning?: StdioBeginning): Promise<void> {
  const { printConfig } = options;
  const http = await openHttp(options);
  if (printConfig !== undefined) {
    const url = http === undefined ? undefined : `${options.listen.replace(/\/$/, "")}/mcp`;
    const hasToken = options.listenTokenFile !== undefined;
    const target = url === undefined ? listEntryArguments(options) : ({ kind: "url", url, hasToken } as const);
    const timeoutS = Math.ceil(options.maxHold) + MARGIN_S;
    return void print(renderHostEntry(printConfig, target, timeoutS));
  }
  const opened = createOpening(options, () => servers.toolsChanged(), http?.telemetry);
  const servers = createMcpServers(opened.open, {
    maxHoldMs: Math.round(options.maxHold * 1000),
    onCancel: options.onCancel,
    structured: options.structured,
    version: VERSION,
    // `judge` connects the environment it needs.
    attach: async () => (await opened.open()).judge("list_sessions", {}),
    ...defined({ cwd: options.cd }),
  });
  const live = options.view === true ? (await import("../agent/live-view.js")).createLiveView(options) : undefined;
  try {
    if (live !== undefined) {
      const orchestrator = await opened.open();
      live.auditFile = await opened.auditFile();
      await live.attach(orchestrator);
    }
    await (http === undefined ? serveStdio(servers, opened, beginning) : http.serve(servers, opened.open));
  } finally {
    servers.close();
    await opened.close();
    await live?.close();
    await http?.telemetry.close();
  }
}

/** The orchestrator, which takes longer to load than a host waits for its first response. */
interface Opening {
  /** Opens it, once. */
  open(): Promise<Orchestrator>;
  /** Opens it as well. */
  auditFile(): Promise<string | undefined>;
  /** Rejects if it cannot be opened. */
  failed: Promise<never>;
  close(): Promise<void>;
}

function createOpening(
  options: McpServerCommandOptions,
  onToolsChanged: () => void,
  telemetry: OpenedTelemetry | undefined,
): Opening {
  let reject: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  failed.catch(() => {});
  let opening: Promise<McpOrchestrator> | undefined;
  const open = (): Promise<McpOrchestrator> => {
    opening ??= import("../mcp/open-orchestrator.js").then((file) =>
      file.openOrchestrator(options, onToolsChanged, telemetry),
    );
    opening.catch(reject);
    return opening;
  };
  return {
    open: async () => (await open()).orchestrator,
    auditFile: async () => (await open()).auditFile,
    failed,
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}

/** Where HTTP is served; undefined for stdio. @throws CommandError */
async function openHttp(options: McpServerCommandOptions): Promise<HttpPlace | undefined> {
  const { listen, listenTokenFile, allowedHost, tlsCert, tlsKey, drain } = options;
  if (!isStdio(listen)) return (await import("../mcp/serve-http.js")).openHttp(options);
  refuseOnStdio({
    "--listen-token-file": listenTokenFile,
    "--allowed-host": allowedHost,
    "--tls-cert": tlsCert,
    "--tls-key": tlsKey,
    "--drain": drain,
  });
  return undefined;
}

const onError = (error: Error) => say(`mcp: ${error.message}`);

async function serveStdio(servers: McpServers, { open, failed }: Opening, beginning?: StdioBeginning): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
  });
  const signaled = new Promise<void>((resolve) => void onStopSignal(resolve)).then(() => servers.drain());
  const ended = new AbortController();
  let opening: Promise<unknown> | undefined;
  const create: McpServers["create"] = (...context) => {
    // Once the first response is sent. A problem of the configuration is reported also if no tool is ever used.
    opening ??= waitToOpen(ended.signal).then(open, () => {});
    opening.catch(() => {});
    return servers.create(...context);
  };
  const handle = serveMcpStdio({ ...servers, create }, { onerror: onError, beginning });
  try {
    await Promise.race([stopped, signaled, failed]);
  } finally {
    ended.abort();
    await handle.close();
  }
}

/** Rejects when `signal` aborts. A timer counts from the start of the current turn of the event loop, in which loading took long. */
async function waitToOpen(signal: AbortSignal): Promise<void> {
  await setImmediate(undefined, { signal });
  await setTimeout(OPEN_AFTER_MS, undefined, { signal });
}

const OPEN_AFTER_MS = 20;

/** Margin between the maximum wait of a call and the timeout of the MCP host, seconds. */
const MARGIN_S = 30;
