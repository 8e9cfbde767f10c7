import type { ExecutorToolSpec } from "./tools.js";

/** Description of the argument `until`, for the model. */
const UNTIL_DESCRIPTION =
  'What ends the wait early: "exit", only the end of the process; "output", any new output; "prompt", that the program seems to wait for input, a hint. Default "exit".';

/** The tools for commands and sessions as every executor of this project offers them: known before one is connected. */
export const STANDARD_TOOLS = {
  exec_command: {
    name: "exec_command",
    description:
      "Runs a script in a shell. Answers with its output as soon as it has ended; if it is still running when the window is over, answers with what it has written so far and a session ID for write_stdin.",
    contract: "unified_exec.exec_command",
    inputSchema: {
      type: "object",
      properties: {
        cmd: { type: "string", description: "Script for the shell." },
        workdir: {
          type: "string",
          description: "Directory to run in; a relative one is taken from the working directory of the turn.",
        },
        tty: {
          type: "boolean",
          description: "Run on a terminal, for programs that ask or draw. Default false: pipes, stdin empty.",
        },
        stdin: {
          type: "string",
          enum: ["null", "open"],
          description: 'Without a terminal: "open" lets write_stdin send input through a pipe. Default "null".',
        },
        until: { type: "string", enum: ["exit", "output", "prompt"], description: UNTIL_DESCRIPTION },
        yield_time_ms: {
          type: "number",
          description: "Longest wait for the end of the script, milliseconds. Default 10000.",
        },
        max_output_tokens: {
          type: "number",
          description: "Largest output, tokens; the middle of a longer one is left out. Default 10000.",
        },
        shell: { type: "string", description: "Shell to use. Default: the user's." },
        login: { type: "boolean", description: "Read the login files of the shell first. Default true." },
        sandbox_permissions: {
          type: "string",
          enum: ["use_default", "require_escalated"],
          description: '"require_escalated" asks to run without the sandbox. Default "use_default".',
        },
        justification: {
          type: "string",
          description: "With require_escalated: the question that the user is asked, in one sentence.",
        },
        prefix_rule: {
          type: "array",
          items: { type: "string" },
          description: "With require_escalated: first words of commands that the user could allow from now on.",
        },
      },
      required: ["cmd"],
      additionalProperties: false,
    },
  },
  write_stdin: {
    name: "write_stdin",
    description:
      "Writes to a session that is still running, or waits for it when there is nothing to write. Answers with the output that came since the last answer.",
    contract: "unified_exec.write_stdin",
    inputSchema: {
      type: "object",
      properties: {
        session_id: { type: "integer", description: "The session, as exec_command named it." },
        chars: {
          type: "string",
          description:
            'Characters to write, exactly as they are: end a line with "\\n". "\\u0003" interrupts. Default "": only wait.',
        },
        close_stdin: { type: "boolean", description: "End the input after what is written. Default false." },
        until: {
          type: "string",
          enum: ["exit", "output", "prompt"],
          description: UNTIL_DESCRIPTION,
        },
        yield_time_ms: {
          type: "number",
          description: "Longest wait, milliseconds. Default 250; at least 5000 when there is nothing to write.",
        },
        max_output_tokens: {
          type: "number",
          description: "Largest output, tokens; the middle of a longer one is left out. Default 10000.",
        },
      },
      required: ["session_id"],
      additionalProperties: false,
    },
  },
  list_sessions: {
    name: "list_sessions",
    description:
      "Lists the sessions there are: which command runs where, for how long, how much of its output was not read yet, and how it ended.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
  },
  kill_session: {
    name: "kill_session",
    description:
      "Ends a session with everything it started, asking first, and tells what was there and whether it is gone.",
    inputSchema: {
      type: "object",
      properties: { session_id: { type: "integer", description: "The session to end." } },
      required: ["session_id"],
      additionalProperties: false,
    },
  },
  read_output: {
    name: "read_output",
    description:
      "Reads output of a session again from a byte offset on, such as what an answer left out. Does not wait, and does not change what write_stdin answers next.",
    inputSchema: {
      type: "object",
      properties: {
        session_id: { type: "integer", description: "The session." },
        from: { type: "integer", description: "Offset of the first byte. Default 0." },
        max_output_tokens: { type: "number", description: "Largest output, tokens. Default 10000." },
      },
      required: ["session_id"],
      additionalProperties: false,
    },
  },
  read_screen: {
    name: "read_screen",
    description:
      "Shows the terminal of a session started with tty=true as a person would see it: rows of text, cursor, title. For programs that draw, such as editors, pagers and menus; many need a TERM they know, such as TERM=xterm. Does not wait, and does not change what write_stdin answers next.",
    inputSchema: {
      type: "object",
      properties: { session_id: { type: "integer", description: "The session." } },
      required: ["session_id"],
      additionalProperties: false,
    },
  },
} as const satisfies Readonly<Record<string, ExecutorToolSpec>>;
