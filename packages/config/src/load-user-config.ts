import { userInfo } from "node:os";
import { join } from "node:path";
import { WHOLE_RULES_DIRECTORY } from "@codex/policy";
import { codexHome } from "./codex-home.js";
import { type ConfigFlags, listFlags } from "./flags.js";
import { type LoadedConfig, loadConfig } from "./load-config.js";

/** The administrator's settings, requirements and rules. */
const SYSTEM_DIRECTORY = "/etc/codex";

/**
 * The effective configuration of the current user for a command with these flags, in the current or another directory. Ignored
 * settings are reported in `notices`. @throws ConfigError
 */
export const loadUserConfig = (flags: ConfigFlags, projectDirectory?: string): Promise<LoadedConfig> =>
  loadConfig({
    home: codexHome(),
    homeOrigin: process.env.CODEX_HOME ? { kind: "environment", variable: "CODEX_HOME" } : { kind: "default" },
    system: SYSTEM_DIRECTORY,
    managedPreferences: process.platform === "darwin" ? listManagedPreferences() : [],
    directory: process.cwd(),
    projectDirectory,
    profile: flags.profile,
    ignoreUser: flags.ignoreUserConfig,
    bypassHookTrust: flags.dangerouslyBypassHookTrust,
    flags: listFlags(flags),
  });

const listManagedPreferences = (): string[] =>
  ["", `${userInfo().username}/`].map((user) => `/Library/Managed Preferences/${user}com.openai.codex.plist`);

/** Directories with rule files, from the least to the most specific: system, user, trusted project; or only that of the system. */
export const ruleDirectories = (
  { sources, project }: LoadedConfig,
  { systemOnly = false }: { systemOnly?: boolean } = {},
): string[] => [join(sources.system, "rules"), ...(systemOnly ? [] : ownRuleDirectories(sources, project))];

const ownRuleDirectories = (sources: LoadedConfig["sources"], project: LoadedConfig["project"]): string[] => [
  join(sources.home, "rules"),
  join(sources.home, "rules", WHOLE_RULES_DIRECTORY),
  ...project.directories
    .filter(({ path, trust }) => trust === "trusted" && join(path, ".codex") !== sources.home)
    .map(({ path }) => join(path, ".codex", "rules")),
];
