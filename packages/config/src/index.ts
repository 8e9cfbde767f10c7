export { codexHome } from "./codex-home.js";
export { ConfigError, renderValue } from "./config-error.js";
export type { ConfigFlags } from "./flags.js";
export { KEY_BY_NAME, type Key } from "./keys.js";
export { type ConfigSources, type LoadedConfig, loadConfig } from "./load-config.js";
export { loadUserConfig, ruleDirectories } from "./load-user-config.js";
export { describePlace, type FileLayer, type Origin } from "./origin.js";
export { HIDDEN } from "./secrets.js";
export type { Settings } from "./settings.js";
