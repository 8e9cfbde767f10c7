import { createMcpServers, type McpHost, type McpServers, renderHostEntry, serveMcpStdio } from "@codex/mcp";
import { createOrchestrator, type ExecutorAttachment } from "@codex/orchestrator";
import { createRuleSaver } from "@codex/policy";
import { openAudit } from "../audit.js";
import { attachExecutor, type ConnectOptions, choosePlace, isOwnHost } from "../connect.js";
import { readTlsIdentity, readToken, type TlsArguments } from "../credentials.js";
import type { ChosenEnvironment } from "../environments.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { onStopSignal } from "../host-process.js";
import { isLoopback, parseHttpListenUrl } from "../listen-url.js";
import { type EntryOptions, listEntryArguments } from "../mcp/entry-arguments.js";
import { say } from "../notice.js";
import { openConfig } from "../open-config.js";
import { loadRules, savedRulesFile } from "../rule-files.js";
import { openSandbox } from "../sandbox-selector.js";
import { compileGrammarSimply } from "../shell-parser.js";
import { VERSION } from "../version.js";

export interface McpServerCommandOptions extends EntryOptions, TlsArguments {
  /** `stdio://`, `http://HOST:PORT` or `https://HOST:PORT`. */
  listen: string;
  /** Files with the bearer tokens of HTTP clients, each of a client of its own. */
  listenTokenFile?: string[];
  /** Names by which HTTP clients reach the listener, in addition to its address. */
  allowedHost?: string[];
  /** Print the entry for this host instead. */
  printConfig?: McpHost;
}

/** Serves the tools over stdin and stdout until stdin ends, or over HTTP until a signal. Connects when tools are first listed or called. */
export async function runMcpServer(options: McpServerCommandOptions): Promise<void> {
  const { printConfig } = options;
  const address = isStdio(options.listen) ? undefined : readAddress(options);
  if (printConfig !== undefined) {
    const url = address === undefined ? undefined : `${options.listen.replace(/\/$/, "")}/mcp`;
    const hasToken = options.listenTokenFile !== undefined;
    const target = url === undefined ? listEntryArguments(options) : ({ kind: "url", url, hasToken } as const);
    const timeoutS = Math.ceil(options.maxHold) + MARGIN_S;
    return void process.stdout.write(renderHostEntry(printConfig, target, timeoutS));
  }
  const config = await openConfig(options);
  for (const notice of config.notices) say(notice);
  const { approvalPolicy, defaults, sandbox } = config.settings;
  const audit = openAudit(config.settings.audit);
  compileGrammarSimply();
  const orchestrator = createOrchestrator({
    policy: {
      approvalPolicy,
      rules: await loadRules(options.rules ?? [], config),
      saveRule: createRuleSaver(savedRulesFile()),
      sandbox: openSandbox(sandbox, isOwnHost(options)),
    },
    defaults,
    ...(audit === undefined ? {} : { audit }),
    onToolsChanged: () => servers.toolsChanged(),
  });
  const place = createPlace(options);
  orchestrator.addEnvironment(place);
  const servers = createMcpServers(orchestrator, {
    maxHoldMs: Math.round(options.maxHold * 1000),
    onCancel: options.onCancel,
    structured: options.structured,
    version: VERSION,
    // `judge` connects the environment it needs.
    attach: () => orchestrator.judge("list_sessions", {}),
    ...(options.cd === undefined ? {} : { cwd: options.cd }),
  });
  try {
    await (address === undefined ? serveStdio(servers) : serveHttp(servers, address));
  } finally {
    servers.close();
    await orchestrator.close();
    await place.close();
  }
}

const isStdio = (listen: string): boolean => listen === "stdio" || listen === "stdio://";

/** Where HTTP is served. @throws CommandError */
function readAddress({ listen, listenTokenFile, allowedHost = [], ...tlsOptions }: McpServerCommandOptions) {
  const { host, port, isTls } = parseHttpListenUrl(listen);
  const tls = readTlsIdentity(tlsOptions);
  if (isTls !== (tls !== undefined)) {
    throw new CommandError("--listen https:// and --tls-cert with --tls-key need each other", EXIT.usage);
  }
  const tokens = listenTokenFile?.map((path, index) => ({
    token: readToken(path, "--listen-token-file") ?? "",
    client: `token-${index + 1}`,
  }));
  if (tokens === undefined && !isLoopback(host)) {
    throw new CommandError(
      `${host} can be reached from other machines, and an MCP client can run programs: give --listen-token-file`,
      EXIT.usage,
    );
  }
  return { host, port, ...(tls === undefined ? {} : { tls }), allowedHosts: allowedHost, ...(tokens && { tokens }) };
}

const onError = (error: Error) => say(`mcp: ${error.message}`);

async function serveStdio(servers: McpServers): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    onStopSignal(resolve);
  });
  const handle = serveMcpStdio(servers, { onerror: onError });
  await stopped;
  await handle.close();
}

async function serveHttp(servers: McpServers, address: ReturnType<typeof readAddress>): Promise<void> {
  // Before the address is printed, since a signal may follow immediately.
  const stopped = new Promise<void>((resolve) => void onStopSignal(resolve));
  const { listenMcp } = await import("@codex/mcp/http");
  const listener = await listenMcp(servers, address);
  process.stdout.write(`${listener.url}\n`);
  await stopped;
  await listener.close();
}

/** The environment of the calls: connected on first use, and reconnected when lost. */
function createPlace(options: ConnectOptions) {
  const id = options.environment ?? (isOwnHost(options) ? "local" : "executor");
  let chosen: ChosenEnvironment | undefined;
  return {
    // A name for models, not an address.
    id: /^[A-Za-z0-9_.-]{1,64}$/.test(id) ? id : "executor",
    async attach(orchestrator: ExecutorAttachment) {
      chosen ??= await choosePlace(options);
      const { id: name } = this;
      // An environment attaches under its own id.
      const attachment = {
        attach: (given: Parameters<ExecutorAttachment["attach"]>[0]) => orchestrator.attach({ ...given, name }),
      };
      await attachExecutor(attachment, name, options, {}, chosen);
    },
    close: async () => chosen?.close(),
  };
}

/** Margin between the maximum wait of a call and the timeout of the MCP host, seconds. */
const MARGIN_S = 30;
