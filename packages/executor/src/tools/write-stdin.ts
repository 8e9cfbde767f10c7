import { parseWriteStdinRequest } from "@codex/executor-protocol";
import { unwrap } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";
import { UNTIL_DESCRIPTION } from "./until.js";

const DESCRIPTION =
  "Writes to a session that is still running, or waits for it when there is nothing to write. Answers with the output that came since the last answer.";

export const writeStdin: SessionTool = {
  spec: {
    name: "write_stdin",
    description: DESCRIPTION,
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
  async call(args, unifiedExec, scope) {
    return unifiedExec.writeStdin(unwrap(parseWriteStdinRequest(args), "write_stdin"), scope);
  },
};
