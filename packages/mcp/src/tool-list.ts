import type { ModelTool } from "@codex/orchestrator";
import type { Tool } from "@modelcontextprotocol/server";

/** A tool for the MCP tool list. `holdMs`: time limit of a call. `structured`: its results have structured content. */
export function describeTool({ name, description, inputSchema }: ModelTool, holdMs: number, structured: boolean): Tool {
  const hold = WAITING.has(name) ? ` One call waits for at most ${holdMs / 1000} s; the program runs on.` : "";
  return {
    name,
    description: `${description}${SEARCH_TERMS.get(name) ?? ""}${hold}`,
    inputSchema: { ...inputSchema, type: "object" },
    ...(structured ? { outputSchema: OUTPUT_SCHEMA } : {}),
    annotations: ANNOTATIONS.get(name) ?? CHANGES,
  };
}

/** What all tools have in common: a result has further members, and a refusal others. */
const OUTPUT_SCHEMA = {
  type: "object" as const,
  properties: {
    text: { type: "string", description: "The result as a model reads it, with the output." },
    exitCode: { type: "integer", description: "Of a command that has ended." },
    processId: { type: "integer", description: "The session of a command that runs on." },
  },
  required: ["text"],
};

type Annotations = NonNullable<Tool["annotations"]>;

const CHANGES = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
const READS = { readOnlyHint: true, openWorldHint: false };

const ANNOTATIONS: ReadonlyMap<string, Annotations> = new Map<string, Annotations>([
  ["kill_session", { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }],
  ["list_sessions", READS],
  ["read_output", READS],
  ["read_screen", READS],
]);

const WAITING: ReadonlySet<string> = new Set(["exec_command", "write_stdin"]);

/** Search terms for hosts that search tool descriptions instead of showing all tools. */
const SEARCH_TERMS: ReadonlyMap<string, string> = new Map([
  ["exec_command", " Runs a shell command: starts a process, in a terminal where asked for."],
  ["write_stdin", " Types into the terminal or the input of a running process, or waits for it."],
]);
