/** How the server introduces itself to a client. */
export const SERVER = { name: "codex", title: "Codex tools" } as const;

/** The extension of clients that accept tasks in the place of results. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** For the model. */
export const INSTRUCTIONS =
  "Runs commands on a host: exec_command starts one in a shell. One that runs on is a session: write_stdin types into it or waits for it, " +
  "list_sessions, read_output and read_screen look at sessions, kill_session ends one.";
