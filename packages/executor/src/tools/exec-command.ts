import { parseExecCommandRequest } from "@codex/executor-protocol";
import { unwrap } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";
import { UNTIL_DESCRIPTION } from "./until.js";

const DESCRIPTION =
  "Runs a script in a shell. Answers with its output as soon as it has ended; if it is still running when the window is over, answers with what it has written so far and a session ID for write_stdin.";

export const execCommand: SessionTool = {
  spec: {
    name: "exec_command",
    description: DESCRIPTION,
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
  async call(args, unifiedExec, scope) {
    return unifiedExec.execCommand(unwrap(parseExecCommandRequest(args), "exec_command"), scope);
  },
};
