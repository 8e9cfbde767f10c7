import { text } from "node:stream/consumers";
import { createTerminalApprover } from "@codex/agent-terminal/approvals";
import type { ConfigFlags } from "@codex/config";
import type { Hooks } from "@codex/hooks";
import type { McpTools } from "@codex/mcp-client";
import {
  type AuditOptions,
  createOrchestrator,
  type Orchestrator,
  type OrchestratorDefaults,
} from "@codex/orchestrator";
import { createRuleSaver, type PolicyOptions } from "@codex/policy";
import { defined } from "@codex/values";
import { openAudit } from "../audit.js";
import { attachExecutor, type ConnectOptions, choosePlace } from "../connect.js";
import type { ChosenEnvironment } from "../environments.js";
import { EXIT } from "../exit-codes.js";
import { isMcpTool } from "../mcp/tool-names.js";
import { printJson, printLine, say } from "../notice.js";
import { openConfig } from "../open-config.js";
import { hooksDirectory, openHooks } from "../open-hooks.js";
import { loadRules, savedRulesFile } from "../rule-files.js";
import { openProfiles, openSandbox } from "../sandbox-selector.js";
import { compileGrammarSimply } from "../shell-parser.js";
import { findTool } from "./tools-list.js";

interface ToolsOptions extends ConnectOptions {
  chosen?: ChosenEnvironment | undefined;
  /** Name of the tool to call. */
  tool?: string;
  json?: boolean;
  defaults?: OrchestratorDefaults;
  audit?: AuditOptions | undefined;
  hooks?: Hooks | undefined;
}

export async function runToolsCall(
  name: string,
  json: string,
  options: ToolsOptions & ConfigFlags & { rules?: string[] },
): Promise<void> {
  const args = json === "-" ? await text(process.stdin) : json;
  const config = await openConfig(options);
  const chosen = await choosePlace(options);
  const { approvalPolicy, defaults } = config.settings;
  const audit = openAudit(config.settings.audit);
  const isOwn = options.executor === undefined && chosen === undefined;
  const sandbox = openSandbox(config.settings.sandbox, isOwn);
  const profiles = openProfiles(config, isOwn);
  const rules = await loadRules(options.rules ?? [], config);
  const hooks = await openHooks(config, hooksDirectory(config, process.cwd()));
  const saveRule = createRuleSaver(savedRulesFile());
  await withExecutor(
    { ...options, defaults, audit, hooks, chosen, tool: name },
    { approvalPolicy, rules, saveRule, sandbox, profiles, ...defined({ network: config.settings.network }) },
    async (orchestrator, mcp) => {
      findTool(orchestrator.listTools(), name, mcp);
      const abort = new AbortController();
      const onInterrupt = () => abort.abort();
      process.once("SIGINT", onInterrupt);
      const result = await orchestrator.callTool(name, args, {
        signal: abort.signal,
        ...(chosen === undefined ? { cwd: process.cwd() } : {}),
      });
      process.off("SIGINT", onInterrupt);
      const { status, isError, text, structured } = result;
      if (options.json) printJson({ status, isError, text, structured });
      else printLine(text);
      const session: unknown = Reflect.get(Object(result.structured), "processId");
      if (typeof session === "number")
        say(`session ${session} ends now: with this command its executor, or the connection to it, ends`);
      if (result.isError) process.exitCode = EXIT.failure;
    },
  );
}

async function withExecutor(
  options: ToolsOptions,
  policy: PolicyOptions,
  use: (orchestrator: Orchestrator, mcp: McpTools | undefined) => Promise<void>,
): Promise<void> {
  compileGrammarSimply();
  const approver = createTerminalApprover(savedRulesFile());
  const orchestrator = createOrchestrator({
    policy,
    ...defined({ defaults: options.defaults, audit: options.audit, hooks: options.hooks, approver }),
  });
  const { chosen, tool } = options;
  let mcp: McpTools | undefined;
  try {
    await attachExecutor(orchestrator, "executor", options, {}, chosen);
    if (tool !== undefined && isMcpTool(tool))
      mcp = await (await import("../mcp/attach-mcp-tools.js")).attachMcpTools(orchestrator, chosen, tool);
    await use(orchestrator, mcp);
  } finally {
    await orchestrator.close();
    options.hooks?.close();
    await mcp?.close();
    await chosen?.close();
  }
}
