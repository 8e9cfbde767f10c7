import type { ExecutorTool } from "@codex/executor";
import type { ToolCallOutcome } from "@codex/executor-protocol";
import { defined, messageOf } from "@codex/values";
import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import type { ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import * as z from "zod/mini";
import type { McpServerConfig } from "../config/server-config.js";
import { toOutcome } from "./result.js";

/** The part of a server that these tools need. Its requests reject with a text for a model. */
export interface LibraryServer {
  config: Pick<McpServerConfig, "name" | "approvalMode">;
  /** What it declares to have besides tools. */
  offers: { resources: boolean; prompts: boolean };
  listResources(cursor: string | undefined, signal: AbortSignal): Promise<object>;
  listResourceTemplates(cursor: string | undefined, signal: AbortSignal): Promise<object>;
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
  listPrompts(cursor: string | undefined, signal: AbortSignal): Promise<object>;
  getPrompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<PromptResult>;
}

/** A prompt of a server, filled in. */
interface PromptResult {
  description?: string | undefined;
  messages: readonly { role: string; content: ContentBlock }[];
}

/**
 * The tools with which a model finds and reads resources and prompts of all servers, as far as any of them has some: those of Codex 0.169.0 for
 * resources, and their like for prompts. They need approval if calls of one of the servers always do.
 * @param servers those that are ready
 */
export function listLibraryTools(servers: readonly LibraryServer[]): ExecutorTool[] {
  const resources = servers.filter(({ offers }) => offers.resources);
  const prompts = servers.filter(({ offers }) => offers.prompts);
  const known = [
    ...RESOURCE_TOOLS.map((tool) => ({ tool, from: resources })),
    ...PROMPT_TOOLS.map((tool) => ({ tool, from: prompts })),
  ];
  return known.flatMap(({ tool, from }) => (from.length === 0 ? [] : [toExecutorTool(tool, from)]));
}

/** Whether a tool of this name is of all servers. */
export const isLibraryTool = (name: string): boolean =>
  [...RESOURCE_TOOLS, ...PROMPT_TOOLS].some((tool) => tool.name === name);

interface LibraryTool {
  name: string;
  description: string;
  properties: Readonly<Record<string, object>>;
  required: readonly string[];
  run(args: Record<string, unknown>, servers: readonly LibraryServer[], signal: AbortSignal): Promise<ToolCallOutcome>;
}

const server = { type: "string", description: "Name of the MCP server." };
const serverOrAll = { type: "string", description: "Name of the MCP server; default all of them." };
const cursor = { type: "string", description: "`nextCursor` of the list before, with the same server." };

/** A tool that lists what one server has, or all. */
function createListTool(
  name: string,
  what: string,
  key: string,
  list: (server: LibraryServer, cursor: string | undefined, signal: AbortSignal) => Promise<object>,
): LibraryTool {
  return {
    name,
    description: `Lists ${what} of MCP servers.`,
    properties: { server: serverOrAll, cursor },
    required: [],
    async run(args, servers, signal) {
      const given = parse(z.object({ server: z.optional(z.string()), cursor: z.optional(z.string()) }), args);
      if (given.server !== undefined) {
        const one = find(given.server, servers);
        const found = await list(one, given.cursor, signal);
        const { nextCursor } = found as { nextCursor?: string };
        return toText({ server: given.server, [key]: named(one, found, key), ...defined({ nextCursor }) });
      }
      if (given.cursor !== undefined) throw new Error("`cursor` needs the `server` it is of");
      const errors: Record<string, string> = {};
      const lists = servers.map(async (one) => {
        try {
          return named(one, await list(one, undefined, signal), key);
        } catch (error) {
          errors[one.config.name] = messageOf(error);
          return [];
        }
      });
      const all = (await Promise.all(lists)).flat();
      return toText({ [key]: all, ...(Object.keys(errors).length === 0 ? {} : { errors }) });
    },
  };
}

const named = ({ config }: LibraryServer, found: object, key: string): object[] => {
  const listed = (found as Record<string, unknown>)[key];
  return Array.isArray(listed) ? listed.map((each: object) => ({ server: config.name, ...each })) : [];
};

const RESOURCE_TOOLS: readonly LibraryTool[] = [
  createListTool("list_mcp_resources", "the resources (files, tables, pages)", "resources", (one, at, signal) =>
    one.listResources(at, signal),
  ),
  createListTool(
    "list_mcp_resource_templates",
    "the templates of addresses of resources",
    "resourceTemplates",
    (one, at, signal) => one.listResourceTemplates(at, signal),
  ),
  {
    name: "read_mcp_resource",
    description: "Reads a resource of an MCP server.",
    properties: { server, uri: { type: "string", description: "Its address, as listed." } },
    required: ["server", "uri"],
    async run(args, servers, signal) {
      const given = parse(z.object({ server: z.string(), uri: z.string() }), args);
      const { contents } = await find(given.server, servers).readResource(given.uri, signal);
      const pictures = contents.flatMap((part): ContentBlock[] =>
        "blob" in part && /^image\//.test(part.mimeType ?? "")
          ? [{ type: "image", data: part.blob, mimeType: part.mimeType ?? "" }]
          : [],
      );
      // A model cannot read base64, and is shown pictures as such.
      const shown = contents.map((part) => {
        if (!("blob" in part)) return part;
        const { blob, ...rest } = part;
        return { ...rest, bytes: Buffer.byteLength(blob, "base64") };
      });
      const text = JSON.stringify({ ...given, contents: shown });
      return toOutcome({ content: [{ type: "text", text }, ...pictures] });
    },
  },
];

const PROMPT_TOOLS: readonly LibraryTool[] = [
  createListTool("list_mcp_prompts", "the prompts (instructions for a task)", "prompts", (one, at, signal) =>
    one.listPrompts(at, signal),
  ),
  {
    name: "get_mcp_prompt",
    description: "Gets a prompt of an MCP server, filled in.",
    properties: {
      server,
      name: { type: "string", description: "Its name, as listed." },
      arguments: {
        type: "object",
        description: "Values of its arguments, by name.",
        additionalProperties: { type: "string" },
      },
    },
    required: ["server", "name"],
    async run(args, servers, signal) {
      const schema = z.object({
        server: z.string(),
        name: z.string(),
        arguments: z.optional(z.record(z.string(), z.string())),
      });
      const given = parse(schema, args);
      const prompt = await find(given.server, servers).getPrompt(given.name, given.arguments ?? {}, signal);
      const { description, messages } = prompt;
      const pictures = messages.flatMap(({ content }) => (content.type === "image" ? [content] : []));
      const shown = messages.map(({ role, content }) =>
        content.type === "image" || content.type === "audio"
          ? { role, content: { type: content.type, mimeType: content.mimeType } }
          : { role, content },
      );
      const text = JSON.stringify({ server: given.server, ...defined({ description }), messages: shown });
      return toOutcome({ content: [{ type: "text", text }, ...pictures] });
    },
  },
];

function find(name: string, servers: readonly LibraryServer[]): LibraryServer {
  const found = servers.find(({ config }) => config.name === name);
  if (found !== undefined) return found;
  const names = servers.map(({ config }) => `\`${config.name}\``).join(", ");
  throw new Error(`there is no server of that name that has any; those that have: ${names}`);
}

const toText = (value: object): ToolCallOutcome =>
  toOutcome({ content: [{ type: "text", text: JSON.stringify(value) }] });

function toExecutorTool(tool: LibraryTool, servers: readonly LibraryServer[]): ExecutorTool {
  const { name, description, properties, required, run } = tool;
  return {
    spec: {
      name,
      description,
      inputSchema: { type: "object", properties, required, additionalProperties: false },
      ...(servers.some(({ config }) => config.approvalMode === "prompt") ? { asksApproval: true } : {}),
    },
    async call(args, { signal }) {
      try {
        return await run((args ?? {}) as Record<string, unknown>, servers, signal);
      } catch (error) {
        return { status: "error", message: `${name}: ${messageOf(error)}` };
      }
    },
  };
}

/** @throws Error with the first argument that is wrong */
function parse<S extends z.core.$ZodType>(schema: S, args: unknown): z.core.output<S> {
  const parsed = z.safeParse(schema, args, PARSE_CONTEXT);
  if (parsed.success) return parsed.data;
  const { name, text } = findProblem(parsed.error, args);
  throw new Error(`\`${name}\`: ${text}`);
}
