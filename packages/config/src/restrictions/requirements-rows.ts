import { isTable } from "../tables.js";
import { FEATURE_ROWS, NETWORK_ROWS } from "./feature-rows.js";
import { createKeyTable } from "./find-restrictions.js";
import { ignored, isOff, isOn, isPresent, type KeyRow, refused, supported } from "./key-row.js";

const refusedWhenPresent = (why: string, ...keys: string[]): KeyRow[] =>
  keys.map((key) => refused(key, why, { restricts: isPresent }));

/** `requirements.toml` of Codex 0.169.0. */
const REQUIREMENTS_ROWS: readonly KeyRow[] = [
  ...supported(
    "restricts",
    "allow_login_shell",
    "allow_managed_hooks_only",
    "allowed_approval_policies",
    "allowed_approvals_reviewers",
    "allowed_permission_profiles",
    "allowed_sandbox_modes",
    "default_permissions",
    "hooks",
    "mcp_servers",
    "permissions.filesystem.deny_read",
    "rules",
  ),

  ...NETWORK_ROWS.filter(({ key }) => key !== "mode").map((row) => ({
    ...row,
    key: `experimental_network.${row.key}`,
  })),
  ...supported("restricts", "experimental_network.managed_allowed_domains_only", "experimental_network.review_domains"),
  ...ignored(
    "neutral",
    "the ports are those of the network of the commands",
    "experimental_network.http_port",
    "experimental_network.socks_port",
  ),
  refused("experimental_network.danger_full_access_denylist_only", "without a sandbox, every host is reached", {
    restricts: isOn,
  }),
  ...refusedWhenPresent("`experimental_network` says which hosts are reached", "network_proxy", "permissions.network"),
  ...refusedWhenPresent("sandbox modes are not limited by the name of the host", "remote_sandbox_config"),
  ...refusedWhenPresent("web search is not limited", "allowed_web_search_modes"),
  ...refusedWhenPresent("models of other providers would be called", "model_provider", "model_providers"),
  ...refusedWhenPresent("models are called wherever the configuration says", "enforce_residency"),
  ...refusedWhenPresent("what that server requires is not known", "config_server"),
  ...refusedWhenPresent("the model does not get them", "additional_developer_instructions"),
  ...refusedWhenPresent(
    "a model does not review commands by that policy",
    "auto_review",
    "guardian_extra_policy",
    "guardian_policy_config",
  ),
  ...refusedWhenPresent("a sign-in with ChatGPT is not checked", "allowed_chatgpt_workspaces"),
  refused("allowed_login_methods", "models are called with API keys", {
    restricts: (value) => !(Array.isArray(value) && value.includes("api")),
  }),
  refused("allow_remote_control", "hosts may be controlled from elsewhere", { restricts: isOff }),
  refused("otel", "nothing is reported to the administrator", {
    restricts: (value) =>
      !isTable(value) ||
      ["exporter", "trace_exporter", "metrics_exporter"].some(
        (name) => value[name] !== undefined && value[name] !== "none",
      ),
  }),

  ...ignored("neutral", "a profile does nothing unless it is selected, which is an error", "permissions.*"),
  ...ignored(
    "neutral",
    "what it limits does not exist here",
    "allow_appshots",
    "allow_browser_and_computer_use",
    "application",
    "apps",
    "browser_use",
    "chatgpt_base_url",
    "computer_use",
    "in_app_browser",
    "marketplaces",
    "plugins",
    "windows",
  ),
  ...ignored("neutral", "nothing is sent, or asked for, here", "check_for_update_on_startup", "feedback"),
  ...ignored(
    "neutral",
    "it is about what is stored by default, not about what is allowed",
    "cli_auth_credentials_store",
    "log_dir",
    "model_catalog_json",
    "models",
    "sqlite_home",
    "unsafe_enforce_sqlite_journal_mode",
  ),
  ...FEATURE_ROWS,
  ...FEATURE_ROWS.map((row) => ({ ...row, key: row.key.replace("features.", "feature_requirements.") })),
];

export const REQUIREMENTS_TABLE = createKeyTable(REQUIREMENTS_ROWS);
