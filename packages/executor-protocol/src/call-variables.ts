/**
 * Variables that tell a command for which call it runs, by the names of Codex. Most differ in each call, and what a command does is
 * not meant to depend on them: they are no part of an approval or a shell snapshot.
 */
export const CALL_VARIABLES: readonly string[] = [
  "CODEX_THREAD_ID",
  "CODEX_SESSION_ID",
  "CODEX_TOOL_CALL_ID",
  "CODEX_PERMISSION_PROFILE",
];
