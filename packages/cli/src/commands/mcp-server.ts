import type { ConfigFlags } from "@codex/config";
import { createMcpServers, type OnCancel } from "@codex/mcp";
import { createOrchestrator, type ExecutorAttachment } from "@codex/orchestrator";
import { createRuleSaver } from "@codex/policy";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { openAudit } from "../audit.js";
import { attachExecutor, type ConnectOptions, choosePlace, isOwnHost } from "../connect.js";
import type { ChosenEnvironment } from "../environments.js";
import { onStopSignal } from "../host-process.js";
import { type McpHost, renderHostEntry } from "../mcp-host-entry.js";
import { say } from "../notice.js";
import { openConfig } from "../open-config.js";
import { loadRules, savedRulesFile } from "../rule-files.js";
import { openSandbox } from "../sandbox-selector.js";
import { compileGrammarSimply } from "../shell-parser.js";
import { VERSION } from "../version.js";

export interface McpServerCommandOptions extends ConnectOptions, ConfigFlags {
  /** Absolute working directory of calls. */
  cd?: string;
  maxHold: number;
  onCancel: OnCancel;
  structured: boolean;
  rules?: string[];
  /** Print the entry for this host instead. */
  printConfig?: McpHost;
}

/** Serves the tools over stdin and stdout until stdin ends. Connects when tools are first listed or called. */
export async function runMcpServer(options: McpServerCommandOptions): Promise<void> {
  const { printConfig } = options;
  if (printConfig !== undefined) {
    const timeoutS = Math.ceil(options.maxHold) + MARGIN_S;
    return void process.stdout.write(renderHostEntry(printConfig, toArguments(options), timeoutS));
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
  const stopped = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    onStopSignal(resolve);
  });
  const handle = serveStdio((context) => servers.create(context), {
    onerror: (error) => say(`mcp: ${error.message}`),
  });
  await stopped;
  await handle.close();
  servers.close();
  await orchestrator.close();
  await place.close();
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

/** Options to repeat in the entry of an MCP host. */
const toArguments = ({ executor, environment, tokenFile, caFile, cd }: McpServerCommandOptions): string[] =>
  Object.entries({ executor, environment, "token-file": tokenFile, "ca-file": caFile, cd }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
