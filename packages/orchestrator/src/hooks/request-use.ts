import type { ToolUse } from "@codex/hooks";
import type { ApprovalRequest } from "../approvals/approver.js";

/** What is asked about, as hooks read it. */
export function describeRequest(request: ApprovalRequest): Pick<ToolUse, "tool" | "input"> {
  const { toolName, command, cause, justification } = request;
  if (cause.kind === "host") {
    return toBash(scriptOf(command), `network-access ${cause.protocol}://${cause.host}:${cause.port}`);
  }
  const [tool, argument] = command;
  if (toolName === "apply_patch" && tool === toolName) return { tool: toolName, input: { command: argument ?? "" } };
  if (tool === toolName && command.length === 2) return { tool: toolName, input: parse(argument) };
  return toBash(scriptOf(command), justification);
}

const toBash = (command: string, description: string | null): Pick<ToolUse, "tool" | "input"> => ({
  tool: "Bash",
  input: description === null ? { command } : { command, description },
});

/** The script of a shell, or the words of another program. */
export function scriptOf(command: readonly string[]): string {
  const [first = "", flag = "", script = ""] = command;
  if (command.length === 1) return first;
  return command.length === 3 && /^-l?c$/.test(flag) ? script : command.map(quoteWord).join(" ");
}

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "");
  } catch {
    return json;
  }
}
