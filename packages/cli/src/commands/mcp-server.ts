import { setImmediate, setTimeout } from "node:timers/promises";
import { createMcpServers, type McpHost, type McpServers, renderHostEntry, serveMcpStdio } from "@codex/mcp";
import type { StdioBeginning } from "@codex/mcp/handshake";
import type { Orchestrator } from "@codex/orchestrator";
import {
  isLoopback,
  isStdio,
  onHangup,
  onStopSignal,
  parseHttpListenUrl,
  refuseOnStdio,
  type TlsArguments,
  VERSION,
  watchListenToken,
  watchTlsIdentity,
} from "@codex/servers";
import { defined } from "@codex/values";
import { CommandError, EXIT } from "../exit-codes.js";
import { type EntryOptions, listEntryArguments } from "../mcp/entry-arguments.js";
import type { McpOrchestrator } from "../mcp/open-orchestrator.js";
import { print, printLine, say } from "../notice.js";

export interface McpServerCommandOptions extends EntryOptions, TlsArguments {
  /** `stdio://`, `http://HOST:PORT` or `https://HOST:PORT`. */
  listen: string;
  /** Files with the bearer tokens of HTTP clients, one file per client. */
  listenTokenFile?: string[];
  /** Names by which HTTP clients reach the listener, in addition to its address. */
  allowedHost?: string[];
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
  const address = readAddress(options);
  if (printConfig !== undefined) {
    const url = address === undefined ? undefined : `${options.listen.replace(/\/$/, "")}/mcp`;
    const hasToken = options.listenTokenFile !== undefined;
    const target = url === undefined ? listEntryArguments(options) : ({ kind: "url", url, hasToken } as const);
    const timeoutS = Math.ceil(options.maxHold) + MARGIN_S;
    return void print(renderHostEntry(printConfig, target, timeoutS));
  }
  const opened = createOpening(options, () => servers.toolsChanged());
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
    await (address === undefined ? serveStdio(servers, opened, beginning) : serveHttp(servers, opened, address));
  } finally {
    servers.close();
    await opened.close();
    await live?.close();
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

function createOpening(options: McpServerCommandOptions, onToolsChanged: () => void): Opening {
  let reject: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  failed.catch(() => {});
  let opening: Promise<McpOrchestrator> | undefined;
  const open = (): Promise<McpOrchestrator> => {
    opening ??= import("../mcp/open-orchestrator.js").then((file) => file.openOrchestrator(options, onToolsChanged));
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
function readAddress(options: McpServerCommandOptions): HttpAddress | undefined {
  const { listen, listenTokenFile, allowedHost, tlsCert, tlsKey } = options;
  if (!isStdio(listen)) return readHttpAddress(options);
  refuseOnStdio({
    "--listen-token-file": listenTokenFile,
    "--allowed-host": allowedHost,
    "--tls-cert": tlsCert,
    "--tls-key": tlsKey,
  });
  return undefined;
}

type HttpAddress = ReturnType<typeof readHttpAddress>;

function readHttpAddress({ listen, listenTokenFile, allowedHost = [], ...tlsOptions }: McpServerCommandOptions) {
  const { host, port, isTls } = parseHttpListenUrl(listen, "stdio://, ");
  const tls = watchTlsIdentity(tlsOptions, FILE_LOG);
  if (isTls !== (tls !== undefined)) {
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
  return { host, port, ...defined({ tls }), allowedHosts: allowedHost, ...(tokens && { tokens }) };
}

const FILE_LOG = {
  info: (message: string, { path }: { path: string }) => say(`${message}: ${path}`),
  error: (message: string, { path, reason }: { path: string; reason: string }) => say(`${message}: ${path}: ${reason}`),
};

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

async function serveHttp(servers: McpServers, { open }: Opening, address: HttpAddress): Promise<void> {
  await open();
  // Before the address is printed, since a signal may follow immediately.
  const stopped = new Promise<void>(
    (resolve) => void onStopSignal(resolve, { atHangup: process.stdin.isTTY === true }),
  );
  const stopHangups = onHangup({ info: say }, [address?.tls, address?.tokens]);
  // Other programs of this user could read its tokens.
  const { shieldIfPossible } = await import("../connect.js");
  shieldIfPossible();
  const { listenMcp } = await import("@codex/mcp/http");
  const listener = await listenMcp(servers, address);
  printLine(listener.url);
  await stopped;
  await servers.drain();
  await listener.close();
  stopHangups();
}

/** Margin between the maximum wait of a call and the timeout of the MCP host, seconds. */
const MARGIN_S = 30;
