// Our own MCP server, reached through an executor: its text has to arrive byte for byte on this way too.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createLocalOrchestrator } from "@codex/local";
import { checkFace, FACE_CASES, type FaceCheck } from "@codex/local/testing";
import { createMcpServers, serveMcpStdio } from "@codex/mcp";
import { listenMcp } from "@codex/mcp/http";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createEnvironmentFetch, executorStdio } from "../src/index.js";
import { openRemote } from "./support.js";

/** Where the servers are run. The orchestrators whose tools they serve are those of the kit. */
let host: Awaited<ReturnType<typeof createLocalOrchestrator>>;
beforeAll(async () => {
  host = await createLocalOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
});
afterAll(() => host.close());

/** A program whose standard streams are those of a server in this process. */
const BRIDGE = `const socket = require("net").connect(process.argv[1]);
process.stdin.pipe(socket).pipe(process.stdout);`;

const CONNECT: Record<string, FaceCheck["connect"]> = {
  async stdio(orchestrator) {
    const servers = createMcpServers(orchestrator);
    const listener = createServer((socket) => {
      serveMcpStdio(servers, { transport: new StdioServerTransport(socket, socket) });
    });
    await once(listener.listen(0, "127.0.0.1"), "listening");
    const { port } = listener.address() as AddressInfo;
    const face = await createFace(
      executorStdio(host, { command: process.execPath, args: ["-e", BRIDGE, String(port)], environment: "local" }),
    );
    return {
      ...face,
      async close() {
        await face.close();
        servers.close();
        listener.close();
      },
    };
  },
  async http(orchestrator) {
    const servers = createMcpServers(orchestrator);
    const listener = await listenMcp(servers);
    const { environment } = await openRemote();
    const fetch = createEnvironmentFetch(environment.http);
    const face = await createFace(new StreamableHTTPClientTransport(new URL(listener.url), { fetch }));
    return {
      ...face,
      async close() {
        await face.close();
        servers.close();
        await listener.close();
      },
    };
  },
};

async function createFace(transport: Transport) {
  const client = new Client({ name: "kit", version: "1.0.0" });
  await client.connect(transport);
  return {
    async call(name: string, args: Record<string, unknown>) {
      const { content, isError = false } = await client.callTool({ name, arguments: args }, { onprogress: () => {} });
      return { text: content.map((part) => (part.type === "text" ? part.text : part.type)).join(""), isError };
    },
    close: () => client.close(),
  };
}

describe.each(Object.keys(CONNECT))("an MCP server through an executor, over %s", (transport) => {
  it.each(FACE_CASES)("passes the face kit: $name", (faceCase) =>
    checkFace(faceCase, {
      open: (options) => createLocalOrchestrator(options),
      connect: CONNECT[transport]!,
    }),
  );
});
