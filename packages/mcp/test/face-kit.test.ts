import { createLocalOrchestrator } from "@codex/local";
import { checkFace, FACE_CASES, FILE_FACE_CASES } from "@codex/local/testing";
import { createMcpServers, serveMcpStdio } from "@codex/mcp";
import { listenMcp } from "@codex/mcp/http";
import type { Orchestrator, ResultImage } from "@codex/orchestrator";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { createClient, ERAS, type Era, textOf } from "./support.js";

const CONNECT = {
  stdio: async (orchestrator: Orchestrator, client: Client) => {
    const servers = createMcpServers(orchestrator);
    const [ours, its] = InMemoryTransport.createLinkedPair();
    serveMcpStdio(servers, { transport: its });
    await client.connect(ours);
    return async () => servers.close();
  },
  http: async (orchestrator: Orchestrator, client: Client) => {
    const servers = createMcpServers(orchestrator);
    const listener = await listenMcp(servers);
    await client.connect(new StreamableHTTPClientTransport(new URL(listener.url)));
    return async () => {
      servers.close();
      await listener.close();
    };
  },
};

const FACES = ERAS.flatMap((era) =>
  (["stdio", "http"] as const).map((transport): [Era, keyof typeof CONNECT] => [era, transport]),
);

describe.each(FACES)("MCP, %s over %s", (era, transport) => {
  it.each([...FACE_CASES, ...FILE_FACE_CASES])("passes the face kit: $name", async (faceCase) => {
    await checkFace(faceCase, {
      open: (options) => createLocalOrchestrator(options),
      async connect(orchestrator) {
        const client = createClient(era);
        const end = await CONNECT[transport](orchestrator, client);
        return {
          async call(tool, args) {
            // Progress makes the server follow the output.
            const result = await client.callTool({ name: tool, arguments: args }, { onprogress: () => {} });
            const [text, ...others] = result.content;
            expect(text?.type).toBe("text");
            const images = others.map((part) =>
              part.type === "image" ? { mediaType: part.mimeType, data: part.data } : part,
            );
            return { text: textOf(result), isError: result.isError === true, images: images as ResultImage[] };
          },
          async close() {
            await client.close();
            await end();
          },
        };
      },
    });
  });
});
