import { connectFiles } from "@codex/environments";
import { createOrchestrator, type ExecutorAttachment, type FileToolName, type Orchestrator } from "@codex/orchestrator";
import { createRuleSaver } from "@codex/policy";
import { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "@codex/servers";
import { defined } from "@codex/values";
import { openAudit } from "../audit.js";
import { attachExecutor, type ConnectOptions, choosePlace, isOwnHost } from "../connect.js";
import type { ChosenEnvironment } from "../environments.js";
import { say } from "../notice.js";
import { openConfig } from "../open-config.js";
import { hooksDirectory, openHooks } from "../open-hooks.js";
import { loadRules, savedRulesFile } from "../rule-files.js";
import { openProfiles, openSandbox } from "../sandbox-selector.js";
import { compileGrammarSimply } from "../shell-parser.js";
import type { EntryOptions } from "./entry-arguments.js";

/** The orchestrator of the MCP server. */
export interface McpOrchestrator {
  orchestrator: Orchestrator;
  /** File of its audit log, if there is one. */
  auditFile: string | undefined;
  close(): Promise<void>;
}

/** Opens it as configured. Nothing is connected yet. @throws CommandError for a configuration that cannot be used */
export async function openOrchestrator(
  options: EntryOptions & TelemetryArguments,
  onToolsChanged: () => void,
  given: OpenedTelemetry | undefined,
): Promise<McpOrchestrator> {
  const telemetry = given ?? (await openTelemetry("mcp-server", options, false));
  const config = await openConfig(options);
  for (const notice of config.notices) say(notice);
  const { approvalPolicy, defaults, sandbox, network } = config.settings;
  const audit = openAudit(config.settings.audit);
  const hooks = await openHooks(config, hooksDirectory(config, process.cwd()));
  compileGrammarSimply();
  const orchestrator = createOrchestrator({
    policy: {
      approvalPolicy,
      rules: await loadRules(options.rules ?? [], config),
      saveRule: createRuleSaver(savedRulesFile()),
      sandbox: openSandbox(sandbox, isOwnHost(options)),
      profiles: openProfiles(config, isOwnHost(options)),
      ...defined({ network }),
    },
    defaults,
    connectFiles,
    fileTools: chooseFileTools(options),
    ...defined({ audit, hooks }),
    onToolsChanged,
    telemetry,
  });
  const place = createPlace(options);
  orchestrator.addEnvironment(place);
  return {
    orchestrator,
    auditFile: audit === undefined ? undefined : config.settings.audit.path,
    async close() {
      await orchestrator.close();
      hooks?.close();
      await place.close();
      if (given === undefined) await telemetry.close();
    },
  };
}

/** A host of models reads files of this host itself, and those of another one only through these tools. */
function chooseFileTools(options: EntryOptions): readonly FileToolName[] | false {
  if (options.fileTools === false) return false;
  return isOwnHost(options) ? ["apply_patch", "view_image"] : ["apply_patch", "view_image", "read_file", "list_dir"];
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
