import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";
import { ignored, isFilled, isOff, isOn, isPresent, type KeyRow, refused, supported } from "./key-row.js";

const names = (text: string): string[] => text.trim().split(/\s+/);

const off = (name: string) => `\`-c features.${name}=false\` turns it off`;
const on = (name: string) => `\`-c features.${name}=true\` turns it on`;

const LOOSENING =
  names(`exec_permission_approvals guardian_approval request_permissions request_permissions_tool telepathy
    write_stdin_approval guardian_denial_reconsideration guardian_trust_orchestrator_connectors`);

const ABSENT = names(`agent_message_board agent_message_board_mcp analytics_plan_history api_key_cyber_access_programs
    api_key_model_discovery app_server_websocket_compression apps apps_early_resource_discovery
    apps_mcp_path_override artifact async_compaction async_compaction_root_only auth_elicitation
    background_paginated_rollout_migration bedrock_setup_wizard browser_annotation_api browser_use
    browser_use_external browser_use_full_cdp_access chronicle cli_daybreak cli_resume_account_check code_mode
    code_mode_buffered_exec code_mode_host code_mode_host_grpc code_mode_host_output_truncation code_mode_interrupt
    code_mode_only code_mode_only_strict_3p_tools code_mode_prewarm code_mode_tool_description_first
    code_mode_tool_search codex_apps_mcp_2026_07_28 codex_git_commit collab collaboration_modes computer_use
    connectors context_management current_time_reminder daemon_auto_start daybreak_program_propagation
    default_mode_request_user_input defer_mailbox_preemption deferred_executor deferred_tool_world_state
    elevated_windows_sandbox enable_experimental_windows_sandbox enable_fanout enable_mcp_apps
    executor_capability_discovery executor_capability_discovery_v2 experimental_windows_sandbox
    external_agent_memory_import external_migration fast_mode gateway_setup_wizard gcp_setup_wizard goals
    guardian_conversation_history_tools guardian_enhanced_node_repl_transcripts guardian_ext
    guardian_include_additional_context guardian_native_multi_agent_history guardian_node_repl_transcript_images
    guardian_recorded_items guardian_reuse_parent_compaction guardian_root_handoff_context guardianv2
    "guardianv2.thread_context" guardianv2_decisions_comparison guardianv3 hosted_search_policy image_generation
    image_generation_animation imagegenext in_app_browser in_app_chat in_app_dictation in_app_local_automation
    in_app_updates in_app_voice incremental_exec_tools incremental_tools incremental_tools_legacy
    incremental_tools_legacy_gcp interrupt_on_cancel js_repl js_repl_tools_only local_thread_store_compression
    local_thread_store_shared_compression login_shell_package_path mcp_2026_07_28 memories mentions_v2 multi_agent
    multi_agent_mode multi_agent_v2 multi_agent_v2_dynamic_tools multi_env_copy_file non_prefixed_mcp_tool_names
    output_token_replay personality plugin_discovery_prefetch plugin_hooks plugin_sharing plugins
    powershell_shell_version prefer_mxc prevent_idle_sleep psp realtime_conversation recommended_plugins
    remote_compaction_v2 remote_control remote_models remote_plugin request_rule responses_websockets
    responses_websockets_v2 runtime_agent_instances search_tool secret_auth_storage send_async_message
    send_message_to_user_async skill_catalog_deltas skill_env_var_dependency_prompt skill_mcp_dependency_install
    skill_search sleep_tool sqlite standalone_web_search steer step_model_switching subagent_default_context_limits
    subagent_thread_environments terminal_resize_reflow terminal_visualization_instructions token_budget
    tool_call_mcp_elicitation tool_search tool_search_always_defer_mcp_tools tool_suggest transcript_v2
    tui_app_server tui_extensions_statusline tui_multi_backend tui_workspace ultrafast_mode undo use_agent_identity
    use_xaa wake_on_agent_messages web_search web_search_cached web_search_request windows_sandbox_service
    workspace_dependencies workspace_owner_usage_nudge worktrees`);

const MECHANISMS =
  names(`apply_patch_freeform apply_patch_preserve_line_endings apply_patch_streaming_events command_sessions_world_state
    compaction_image_budget concurrent_reasoning_summaries content_item_kinds critical_path_timing
    cwd_relative_turn_diffs enable_request_compression executed_tool_call_metadata
    experimental_use_unified_exec_tool image_detail_original image_resize_notice instant_interrupt item_ids
    mcp_connection_sharing mcp_lazy_stdio_startup mcp_oauth_refresh_coordination mcp_tool_list_changed
    model_catalog_in_context nonfatal_clock_read_errors omit_app_server_notification_media omit_skill_descriptions
    prediction_preserve_parent_tools reasoning_effort_override resize_all_images respect_system_proxy
    retain_client_developer_messages retain_client_tool_outputs runtime_metrics shell_snapshot_v2 shell_zsh_fork
    simplified_selection_hints stable_environment_tools suppress_model_change_announcements system_proxy_fallback
    unavailable_dummy_tools unbounded_connection_retries unified_exec unified_exec_zsh_fork unified_image_budget
    untrusted_as_tool_output use_legacy_landlock use_linux_sandbox_bwrap`);

/** Whether a value restricts where the proxy is used. */
const whenUsed =
  (restricts: (value: unknown) => boolean) =>
  (value: unknown, { features, experimental_network: required }: TomlTable): boolean =>
    (isOn(required ?? false) || (isTable(features) && isOn(features.network_proxy ?? false))) && restricts(value);

/** `[features.network_proxy]`, and the same keys of requirements. */
export const NETWORK_ROWS: readonly KeyRow[] = [
  ...supported("restricts", "enabled", "domains", "mode", "allow_local_binding", "allow_upstream_proxy"),
  refused("enable_socks5", "the proxy speaks SOCKS as well, with the same decisions", { restricts: whenUsed(isOff) }),
  refused("mitm", "encrypted traffic is not read", { restricts: whenUsed(isFilled) }),
  ...ignored("neutral", "the proxy listens in the network of the commands, nowhere else", "proxy_url", "socks_url"),
  ...ignored("loosens", "no datagrams leave that network", "enable_socks5_udp"),
  ...ignored(
    "loosens",
    "no Unix socket is reached from a sandbox, and the proxy from nowhere else",
    "dangerously_allow_all_unix_sockets",
    "dangerously_allow_non_loopback_proxy",
    "unix_sockets",
  ),
  refused("*", "it is not known, and may restrict which hosts are reached", { restricts: whenUsed(isPresent) }),
];

/** `[features]` of Codex 0.169.0, as `codex features list` prints them, and their old names. */
export const FEATURE_ROWS: readonly KeyRow[] = [
  ...supported("neutral", "shell_snapshot"),
  ...NETWORK_ROWS.map((row) => ({ ...row, key: `network_proxy.${row.key}` })),
  ...supported("restricts", "network_proxy"),
  refused("credential_masking", "commands would see the credentials themselves", {
    restricts: isOn,
    instead: off("credential_masking"),
  }),
  refused("rollout_budget", "a thread would use more tokens than it may", {
    restricts: isOn,
    instead: off("rollout_budget"),
  }),
  refused("skip_host_skill_discovery", "the skills of this host would be offered to the model", {
    restricts: isOn,
    instead: off("skip_host_skill_discovery"),
  }),
  refused("shell_tool", "the model would run commands", { restricts: isOff, instead: on("shell_tool") }),
  refused("unified_exec_tty", "commands would get terminals", { restricts: isOff, instead: on("unified_exec_tty") }),
  refused("view_image", "the model would see images", { restricts: isOff, instead: on("view_image") }),
  ...supported("loosens", "hooks", "codex_hooks"),
  ...ignored("loosens", "what it would allow without a question is asked about here", ...LOOSENING),
  ...ignored("neutral", "this feature does not exist here", ...ABSENT),
  ...ignored("neutral", "it chooses how something is done, not what is allowed", ...MECHANISMS),
].map((row) => ({ ...row, key: `features.${row.key}` }));
