import { randomUUID } from "node:crypto";
import { type Agent, createAgent, type Item, type ModelPort } from "@codex/agent";
import { type AgentSettings, AgentSettingsError, createModelApprover, readAgentSettings } from "@codex/agent-terminal";
import { type ConfigFlags, type LoadedConfig, loadUserConfig, saveTrust } from "@codex/config";
import type { SandboxMode } from "@codex/executor-protocol";
import type { AskPerson, McpTools } from "@codex/mcp-client";
import { type Approver, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { readPlainFile } from "@codex/plain-file";
import { createLazyShellParser, createRuleSaver, type GetShellParser } from "@codex/policy";
import type { CommandSandbox } from "@codex/sandbox";
import { VERSION } from "@codex/servers";
import { decodeText, defined, messageOf } from "@codex/values";
import { openAudit } from "../audit.js";
import { choosePlace } from "../connect.js";
import { findEnvironmentProfile } from "../environment-profile.js";
import type { ChosenEnvironment } from "../environments.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { createOutages } from "../foreground/outages.js";
import { say } from "../notice.js";
import { settingsOf } from "../open-config.js";
import { hooksDirectory, openHooks } from "../open-hooks.js";
import { loadRules, savedRulesFile } from "../rule-files.js";
import { openProfiles, openSandbox } from "../sandbox-selector.js";
import { compileGrammarSimply } from "../shell-parser.js";
import type { AgentCommandOptions } from "./agent-options.js";
import { createFileTools } from "./file-tools.js";
import type { LiveView } from "./live-view.js";
import { openModel } from "./open-model.js";
import { openPlace, type Place } from "./open-place.js";
import { checkRemoteWorkspace, isBypassed, openWorkspace, type Workspace } from "./open-workspace.js";
import { createContextReader } from "./read-context.js";
import { checkRequiredSkills } from "./required-skills.js";

/** The opened resources of a run. */
export interface OpenedAgent {
  readonly agent: Agent;
  /** The same agent with another model. */
  readonly createAgent: (modelName: string) => Agent;
  readonly settings: AgentSettings;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
  readonly executor: Place["executor"];
  readonly orchestrator: Orchestrator;
  readonly providerId: string;
  /** Ends the executor and everything that it still runs. */
  close(): Promise<void>;
}

/** What differs from command to command. */
export interface AgentChoices {
  /** Undefined: there is no approver, and calls that need approval are refused. */
  readonly approver: Approver | undefined;
  /** Passes questions of MCP servers to the person; absent where nobody is asked. */
  readonly askPerson?: AskPerson | undefined;
  /** Directory of the thread that is continued. */
  readonly threadCwd: string | undefined;
  /** Environment of the thread that is continued, if its file names one. */
  readonly threadEnvironment: string | undefined;
  /** Base instructions of the model; default as configured. */
  readonly instructions?: string | undefined;
  /** Shows the threads of the agent; served before anything runs where the options say so. */
  readonly live?: LiveView | undefined;
}

/**
 * Reads the configuration, and opens the model and the executor. Sends no request to the model.
 * @throws CommandError, ConfigError
 */
export async function openAgent(options: AgentCommandOptions, choices: AgentChoices): Promise<OpenedAgent> {
  const chosen = await choosePlace(options, EXIT.failure, { startsWithoutDefault: true });
  try {
    return await openAgentAt(chosen, options, choices);
  } catch (error) {
    await chosen?.close();
    throw error;
  }
}

async function openAgentAt(
  chosen: ChosenEnvironment | undefined,
  options: AgentCommandOptions,
  choices: AgentChoices,
): Promise<OpenedAgent> {
  const isOwn = options.executor === undefined && chosen === undefined;
  checkEnvironment(options, chosen, choices.threadEnvironment);
  const placed =
    options.cd === undefined && choices.threadCwd !== undefined ? { ...options, cd: choices.threadCwd } : options;
  const workspace = await openWorkspace(placed, isOwn);
  if (
    options.approveForMe === true &&
    (isBypassed(options) || choices.approver !== undefined || options.sandbox || options.permissionProfile)
  ) {
    throw new CommandError(
      "--approve-for-me excludes --approvals ask, --sandbox, --permission-profile and --yolo",
      EXIT.usage,
    );
  }
  // Its trial run takes longer than reading everything below.
  const isTried = modeOf(options) !== "danger-full-access";
  const hostSandbox = isOwn ? (await import("../own-executor.js")).createOwnSandbox(isTried) : undefined;
  const isSomebodyAsked = choices.approver !== undefined || options.view === true;
  const config = await openAgentConfig(options, workspace, isSomebodyAsked, isOwn);
  if (options.approveForMe === true) refuseModelReview(config);
  const settings = readSettings(config, options.model);
  const shellParser = createLazyShellParser();
  const loadParser = prepareOnce(shellParser);
  const asked = await openModel(config.table, settings.model, chooseProvider(options, config), loadParser);
  const { provider, notices } = asked;
  const { model, approver } =
    options.approveForMe === true ? createReviewed(asked.model, settings.model) : { ...asked, ...choices };
  for (const notice of [...config.notices, ...notices]) say(notice);
  const instructions = choices.instructions ?? (await readInstructions(settings.instructionsFile));
  const sandboxSettings = config.settings.sandbox;
  const sandbox = openSandbox(
    { ...sandboxSettings, writableRoots: [...(sandboxSettings.writableRoots ?? []), ...workspace.addedRoots] },
    isOwn,
  );
  const cwd = workspace.cwd;
  const hooks = await openHooks(config, hooksDirectory(config, isOwn && cwd !== undefined ? cwd : process.cwd()));
  const rules = await loadRules([], config, { systemOnly: options.ignoreRules === true });
  const audit = openAudit(config.settings.audit);
  compileGrammarSimply();
  const policy = {
    approvalPolicy: config.settings.approvalPolicy,
    rules,
    saveRule: createRuleSaver(savedRulesFile()),
    sandbox,
    profiles: openProfiles(config, isOwn),
    ...defined({ network: config.settings.network }),
  };
  const orchestrator = createOrchestrator({
    policy,
    shellParser,
    defaults: withoutKeys(config.settings.defaults, config.table),
    ...defined({ approver, audit, hooks }),
    ...createOutages(say, "Ctrl-C ends the turn").hooks,
  });
  let mcp: McpTools | undefined;
  let opening: Promise<Place> | undefined;
  const { live } = choices;
  try {
    if (live !== undefined && audit !== undefined) live.auditFile = config.settings.audit.path;
    if (options.view === true) await live?.attach(orchestrator);
    // --add-dir names directories on the host where calls run by default.
    const others = async (id: string) => {
      const profile = await findEnvironmentProfile({ environment: id });
      const profiles = openProfiles(config, false);
      if (profile === undefined) return { ...policy, sandbox: openSandbox(sandboxSettings, false), profiles };
      const flags = { ...toConfigFlags(options, isSomebodyAsked), environmentProfile: profile };
      const { settings: own } = await loadUserConfig(flags, workspace.cwd);
      return { ...policy, profiles, sandbox: openSandbox(own.sandbox, false), ...defined({ network: own.network }) };
    };
    const own = { sandbox: hostSandbox, withoutSandbox: sandboxSettings.mode === "danger-full-access" };
    opening = openPlace(orchestrator, options, chosen, own, others);
    mcp = await startMcp(config, workspace, hostSandbox, opening, choices.askPerson);
    const place = await opening;
    const { executor } = place;
    if (!isOwn) await checkRemoteWorkspace(placed, place);
    await checkRequiredSkills(place, workspace, settings, options);
    const tools = createFileTools({ place, workspace, settings, orchestrator });
    const sources = { place, workspace, settings, config: config.settings, policy: tools.policy, mcp, orchestrator };
    const environments = place.ids?.map((id) => ({ id }));
    const createUnwatched = (modelName: string) =>
      createAgent({
        orchestrator,
        model,
        modelName,
        version: VERSION,
        ...defined({ cwd: workspace.cwd, environments, instructions }),
        tools: tools.list,
        readContext: createContextReader(sources),
        reasoning: settings.reasoning,
        retry: provider.retry,
        login: config.settings.defaults.allowLogin ?? true,
        ...(settings.verbosity === undefined ? {} : { text: { verbosity: settings.verbosity } }),
        ...defined({
          serviceTier: settings.serviceTier,
          contextWindow: settings.contextWindow,
          compactTokenLimit: settings.compactTokenLimit,
          compactPrompt: settings.compactPrompt,
        }),
        ...(provider.toolTypes === undefined ? {} : { customTools: provider.toolTypes.includes("custom") }),
        ...defined({ hooks, permissionProfile: config.profileName }),
        permissionMode: policy.approvalPolicy === "never" ? "bypassPermissions" : "default",
        ...(settings.webSearch === undefined ? {} : { hostedTools: [settings.webSearch] }),
      });
    const createWith = (modelName: string) => {
      const created = createUnwatched(modelName);
      return live === undefined ? created : live.observer.observe(created, modelName);
    };
    const agent = createWith(settings.model);
    await mcp?.attachTo(orchestrator);
    const close = async () => {
      await orchestrator.close();
      hooks?.close();
      await live?.close();
      await mcp?.close();
      await place.close();
    };
    const opened = { agent, createAgent: createWith, settings, config, workspace, executor, orchestrator, close };
    return { ...opened, providerId: provider.id };
  } catch (error) {
    await orchestrator.close();
    await mcp?.close();
    const place = await opening?.catch(() => undefined);
    await place?.close();
    throw error;
  }
}

/** A thread continues where its commands ran, or where the user chooses: its paths refer to other files elsewhere. */
function checkEnvironment(
  { executor, environment }: AgentCommandOptions,
  chosen: ChosenEnvironment | undefined,
  ofThread: string | undefined,
): void {
  if (executor !== undefined || environment !== undefined || ofThread === undefined) return;
  const id = chosen?.environment.id ?? "local";
  if (ofThread === id || ofThread === chosen?.insteadOf?.id) return;
  const how = `--environment ${JSON.stringify(ofThread)} (or --executor ADDRESS) continues there, --environment ${id} here`;
  throw new CommandError(
    `the commands of this thread ran on ${JSON.stringify(ofThread)}, and this is \`${id}\`: nothing was run; ${how}`,
  );
}

/** The servers start while everything else is opened. @param sandbox that of this host, if calls run here */
async function startMcp(
  { table, project }: LoadedConfig,
  workspace: Workspace,
  sandbox: CommandSandbox | undefined,
  opening: Promise<Place>,
  askPerson: AskPerson | undefined,
) {
  // A failure is reported where the place is opened.
  opening.catch(() => {});
  if (table.mcp_servers === undefined) return undefined;
  const { openMcpServers } = await import("../mcp/mcp-servers.js");
  return openMcpServers(table, {
    getEnvironment: async (id) => (await opening).getEnvironment(id),
    // A given directory is on the host where the calls run, and trust refers to directories of this host.
    cwdOf: (id) => (id === "local" && sandbox === undefined ? process.cwd() : workspace.cwd),
    isTrusted: sandbox !== undefined && project.trust === "trusted",
    sandbox,
    askPerson,
  });
}

/**
 * Loads the parser in advance: otherwise the first command waits for that, and for V8 to compile the functions of the grammar when they
 * are first called. A failure is reported by that command.
 */
function prepareOnce(shellParser: GetShellParser): () => void {
  let isPrepared = false;
  return () => {
    if (isPrepared) return;
    isPrepared = true;
    shellParser()
      .then((parser) => parser.parse('cd "$HOME" && ls -l | head'))
      .catch(() => {});
  };
}

/** The sandbox mode that flags choose. */
const modeOf = (options: AgentCommandOptions): SandboxMode | undefined =>
  isBypassed(options) ? "danger-full-access" : options.approveForMe === true ? "workspace-write" : options.sandbox;

/** Without an approver, calls that need approval are refused, whatever is configured. */
function toConfigFlags(options: AgentCommandOptions, isSomebodyAsked: boolean): ConfigFlags {
  const { profile, permissionProfile, approveForMe = false, dangerouslyBypassHookTrust } = options;
  const askForApproval = approveForMe ? "on-request" : options.askForApproval;
  return {
    config: settingsOf(options),
    ...(options.ignoreUserConfig === true ? { ignoreUserConfig: true } : {}),
    ...defined({ profile, sandbox: modeOf(options), permissionProfile, askForApproval, dangerouslyBypassHookTrust }),
    ...(isBypassed(options) || !(isSomebodyAsked || approveForMe) ? { approvalPolicy: "never" } : {}),
  };
}

async function openAgentConfig(
  options: AgentCommandOptions,
  workspace: Workspace,
  isSomebodyAsked: boolean,
  isOwn: boolean,
): Promise<LoadedConfig> {
  const environmentProfile = await findEnvironmentProfile(options);
  const flags = { ...toConfigFlags(options, isSomebodyAsked), environmentProfile };
  const load = () => loadUserConfig(flags, workspace.cwd);
  const loaded = options.trust === true ? await loadTrusted(load, isOwn) : await load();
  const [unknown] = loaded.unknownKeys;
  if (options.strictConfig === true && unknown !== undefined) throw new CommandError(`--strict-config: ${unknown}`);
  return loaded;
}

/** @throws CommandError where the configuration does not let a model decide, or says how it should in a way that is not followed here */
function refuseModelReview({ requirements, table }: LoadedConfig): void {
  if (requirements?.allowsModelReview === false) {
    throw new CommandError("--approve-for-me: requirements.toml does not allow it (`allowed_approvals_reviewers`)");
  }
  if (table.auto_review !== undefined) {
    throw new CommandError(
      "--approve-for-me: `auto_review` restricts in Codex and is not supported here: the model would not follow that policy; remove one of the two",
    );
  }
}

/** The model, and an approver that asks it about each request, with the history of the last one. */
function createReviewed(model: ModelPort, modelName: string): { model: ModelPort; approver: Approver } {
  let history: readonly Item[] = [];
  const noted: ModelPort = {
    stream(request, options) {
      history = request.input;
      return model.stream(request, options);
    },
  };
  return {
    model: noted,
    approver: createModelApprover({ model, modelName, getHistory: () => history, newId: randomUUID }),
  };
}

/** Marks the project as trusted, and then also reads its settings. */
async function loadTrusted(load: () => Promise<LoadedConfig>, isOwn: boolean): Promise<LoadedConfig> {
  if (!isOwn) {
    throw new CommandError(
      "--trust marks a directory of this host, and the commands run elsewhere: they need no trust",
      EXIT.usage,
    );
  }
  const { project, sources } = await load();
  const saved = await saveTrust(sources.home, project);
  if (saved === "kept" && project.trust === "untrusted") {
    say(`--trust: ${project.toMark} is marked as untrusted in config.toml, and stays so`);
  }
  return load();
}

function readSettings({ table }: LoadedConfig, model: string | undefined): AgentSettings {
  try {
    return readAgentSettings(table, model);
  } catch (cause) {
    if (!(cause instanceof AgentSettingsError)) throw cause;
    throw new CommandError(`config.toml: ${cause.message}`, EXIT.failure, { cause });
  }
}

function chooseProvider({ oss, localProvider }: AgentCommandOptions, { table }: LoadedConfig): string | undefined {
  if (oss !== true) return undefined;
  const id = localProvider ?? table.oss_provider;
  if (id === "ollama" || id === "lmstudio") return id;
  const given = typeof id === "string" ? ` (not ${JSON.stringify(id)})` : "";
  throw new CommandError(
    `--oss needs --local-provider ollama or lmstudio, or oss_provider in config.toml${given}`,
    EXIT.usage,
  );
}

/** Longest `model_instructions_file`, bytes. */
const MAX_INSTRUCTIONS_BYTES = 4 * 1024 * 1024;

async function readInstructions(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return decodeText(await readPlainFile(file, { maxBytes: MAX_INSTRUCTIONS_BYTES }), { fatal: true });
  } catch (cause) {
    throw new CommandError(`model_instructions_file ${file} cannot be read: ${messageOf(cause)}`, 1, { cause });
  }
}

/** Of the program that this one runs in, perhaps. */
const OUTER = ["CODEX_PERMISSION_PROFILE"];

/** Commands never get the variables that hold the keys of model providers, whatever these are called. */
function withoutKeys(defaults: LoadedConfig["settings"]["defaults"], table: LoadedConfig["table"]): typeof defaults {
  const providers: unknown = table.model_providers;
  const tables = typeof providers === "object" && providers !== null ? Object.values(providers) : [];
  const names = tables.flatMap((provider: unknown) => {
    const name: unknown =
      typeof provider === "object" && provider !== null && "env_key" in provider ? provider.env_key : undefined;
    return typeof name === "string" ? [name] : [];
  });
  const exclude = [...(defaults.envPolicy?.exclude ?? []), "CODEX_API_KEY", "OPENAI_API_KEY", ...names, ...OUTER];
  return { ...defaults, envPolicy: { ...defaults.envPolicy, exclude } };
}
