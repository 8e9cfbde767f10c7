import type { Conversation } from "@codex/orchestrator";
import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";

/** Registers the output and the screen of sessions as resources. */
export function registerResources(server: McpServer, conversation: Conversation): void {
  for (const { name, tool, title } of RESOURCES) {
    const template = new ResourceTemplate(`codex://sessions/{id}/${name}`, { list: undefined });
    server.registerResource(`session-${name}`, template, { title, mimeType: "text/plain" }, async (uri, { id }) => {
      const { isError, text } = await conversation.callTool(tool, { session_id: Number(id) });
      if (isError) throw new Error(text);
      return { contents: [{ uri: uri.href, mimeType: "text/plain", text }] };
    });
  }
}

const RESOURCES = [
  { name: "output", tool: "read_output", title: "Output of a session" },
  { name: "screen", tool: "read_screen", title: "Terminal of a session, as it is now" },
] as const;
