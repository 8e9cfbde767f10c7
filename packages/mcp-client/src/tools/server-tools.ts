import type { ExecutorTool } from "@codex/executor";
import type { ToolCallOutcome } from "@codex/executor-protocol";
import type { Tool } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../config/server-config.js";
import { MAX_DESCRIPTION_BYTES, MAX_TOOLS } from "../limits.js";
import { asksApproval } from "./approval.js";
import { findShadowed, toModelName } from "./names.js";
import { cleanSchema, findSchemaProblem } from "./schema.js";
import { cut, toSentence, withoutControls } from "./text.js";

/** A tool of a server that is not offered to a model. */
export interface LeftOut {
  /** The server's own name for it, without control characters. */
  tool: string;
  reason: string;
}

/** The part of a server that its tools need. */
interface ToolServer {
  config: McpServerConfig;
  tools: readonly Tool[];
  call(
    name: string,
    args: Record<string, unknown>,
    options: { signal?: AbortSignal; onProgress?: (line: string) => void },
  ): Promise<ToolCallOutcome>;
}

/**
 * The tools of a server, as executor tools. What a server declares is not trusted: a name cannot be that of another
 * server's tool, two tools with the same name are both omitted, and control characters are removed from texts.
 * @param servers names of all servers
 */
export function listTools(
  server: ToolServer,
  servers: readonly string[],
): { tools: ExecutorTool[]; leftOut: LeftOut[] } {
  const { config } = server;
  const { enabledTools, disabledTools } = config;
  const enabled = server.tools.filter(
    ({ name }) => (enabledTools?.includes(name) ?? true) && !disabledTools.includes(name),
  );
  const tools: ExecutorTool[] = [];
  const leftOut: LeftOut[] = [];
  const counts = new Map<string, number>();
  for (const { name } of enabled) {
    const modelName = toModelName(config.name, name);
    counts.set(modelName, (counts.get(modelName) ?? 0) + 1);
  }
  for (const tool of enabled) {
    const modelName = toModelName(config.name, tool.name);
    const problem =
      (tools.length >= MAX_TOOLS ? `the server has ${enabled.length} tools (limit ${MAX_TOOLS} tools)` : undefined) ??
      findShadowed(config.name, tool.name, servers) ??
      (counts.get(modelName) === 1 ? undefined : `several tools of the server would be named \`${modelName}\``) ??
      findSchemaProblem(tool.inputSchema);
    if (problem === undefined) tools.push(toExecutorTool(server, tool, modelName));
    else if (leftOut.length < MAX_TOOLS) leftOut.push({ tool: toSentence(tool.name, 200), reason: problem });
  }
  return { tools, leftOut };
}

function toExecutorTool(server: ToolServer, tool: Tool, name: string): ExecutorTool {
  const description = cut(withoutControls(tool.description ?? tool.title ?? ""), MAX_DESCRIPTION_BYTES);
  return {
    spec: {
      name,
      description,
      inputSchema: cleanSchema(tool.inputSchema),
      ...(asksApproval(server.config, tool.name, tool.annotations) ? { asksApproval: true } : {}),
    },
    async call(args, { signal, emitOutput }) {
      if (args !== undefined && args !== null && !isObject(args)) {
        return { status: "error", message: `arguments of \`${name}\`: expected a JSON object. Nothing was run.` };
      }
      // In order, because each waits for the one before it.
      let sent = Promise.resolve();
      const onProgress = (line: string) => {
        sent = sent.then(() => emitOutput(Buffer.from(`${line}\n`, "utf8")));
      };
      const outcome = await server.call(tool.name, args ?? {}, { signal, onProgress });
      await sent;
      return outcome;
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
