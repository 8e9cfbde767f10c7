// An MCP server of the tests that has resources, prompts and questions.
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const text = (value) => ({ content: [{ type: "text", text: value }] });

const server = new McpServer({ name: "library", version: "1.0.0" });
server.registerResource("notes", "notes://today", { mimeType: "text/plain" }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: "text/plain", text: "buy milk\u001b[31m" }],
}));
server.registerResource("dot", "picture://dot", { mimeType: "image/png" }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: "image/png", blob: PIXEL }],
}));
server.registerResource("broken", "notes://broken", {}, () => {
  throw new Error("the disk is on fire");
});
server.registerResource(
  "days",
  new ResourceTemplate("notes://{day}/list", { list: undefined }),
  { description: "notes of a day" },
  (uri, { day }) => ({ contents: [{ uri: uri.href, text: `notes of ${day}` }] }),
);
server.registerPrompt("greet", { description: "greets", argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
  messages: [
    { role: "user", content: { type: "text", text: `Say hello to ${name}.` } },
    { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
  ],
}));
server.registerTool("order", { description: "asks what to order", inputSchema: z.object({}) }, async () => {
  const answer = await server.server.elicitInput({
    message: "What shall it be?",
    requestedSchema: {
      type: "object",
      properties: {
        drink: { type: "string", title: "Drink", enum: ["tea", "coffee"] },
        cups: { type: "integer", title: "Cups", minimum: 1, default: 2 },
        milk: { type: "boolean", title: "With milk" },
        name: { type: "string", title: "Your name", description: "written on the cup", minLength: 2 },
        extras: { type: "array", title: "Extras", items: { type: "string", enum: ["sugar", "lemon", "cake"] } },
      },
      required: ["drink", "name"],
    },
  });
  return text(JSON.stringify(answer));
});
server.registerTool("sign", { description: "asks to open a page", inputSchema: z.object({}) }, async () => {
  const answer = await server.server.elicitInput({
    mode: "url",
    message: "Sign the form",
    url: "https://example.com/form",
    elicitationId: "1",
  });
  return text(JSON.stringify(answer));
});
await server.connect(new StdioServerTransport());
