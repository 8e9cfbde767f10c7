import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS, type Transport } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { answerHandshake } from "../src/handshake/answer-handshake.js";
import { createMcpServers, serveMcpStdio } from "../src/index.js";

const VERSION = "1.2.3";

/** The response of the server itself to a first request. */
async function serve(request: unknown): Promise<unknown> {
  const servers = createMcpServers(() => new Promise(() => {}), { version: VERSION });
  const transport: Transport = { start: async () => {}, close: async () => {}, send: async () => {} };
  const response = new Promise((resolve) => {
    transport.send = async (message: JSONRPCMessage) => resolve(message);
  });
  const handle = serveMcpStdio(servers, { transport });
  onTestFinished(() => handle.close());
  transport.onmessage?.(request as JSONRPCMessage);
  return response;
}

const initialize = (more: object = {}, params: object = {}) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" }, ...params },
  ...more,
});

const META = "io.modelcontextprotocol/";
const discover = (meta: object = {}, params: object = {}) => ({
  jsonrpc: "2.0",
  id: "first",
  method: "server/discover",
  params: {
    _meta: {
      [`${META}protocolVersion`]: "2026-07-28",
      [`${META}clientInfo`]: { name: "c", version: "1" },
      [`${META}clientCapabilities`]: {},
      ...meta,
    },
    ...params,
  },
});

const CAPABILITIES = {
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  experimental: { "a/b": { c: [1] } },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } },
};

describe("the answer to a first request", () => {
  it.each([
    ...SUPPORTED_PROTOCOL_VERSIONS.map((protocolVersion) => [protocolVersion, initialize({}, { protocolVersion })]),
    ["a client with capabilities", initialize({ id: "a" }, { capabilities: CAPABILITIES })],
    [
      "a client that describes itself",
      initialize({}, { clientInfo: { name: "c", version: "", title: "C", description: "d", websiteUrl: "e" } }),
    ],
    ["2026-07-28", discover()],
    ["2026-07-28 with capabilities", discover({ [`${META}clientCapabilities`]: CAPABILITIES })],
  ] as [string, { id: unknown }][])("is that of the server itself: %s", async (_, request) => {
    const answer = answerHandshake(JSON.stringify(request), VERSION);
    expect(answer).toEqual({ id: request.id, response: await serve(request) });
  });

  it.each([
    ["no JSON", "{"],
    ["a list", [initialize()]],
    ["null", null],
    ["another method", initialize({ method: "ping" })],
    ["a notification", { ...initialize(), id: undefined }],
    ["a fraction as id", initialize({ id: 1.5 })],
    ["another version of JSON-RPC", initialize({ jsonrpc: "1.0" })],
    ["a further member", initialize({ trace: 1 })],
    ["no parameters", initialize({ params: undefined })],
    ["a revision that is not known", initialize({}, { protocolVersion: "1999-01-01" })],
    ["initialize of a revision without it", initialize({}, { protocolVersion: "2026-07-28" })],
    ["a client without a name", initialize({}, { clientInfo: { version: "1" } })],
    ["a client with more", initialize({}, { clientInfo: { name: "c", version: "1", icons: [] } })],
    ["a progress token", initialize({}, { _meta: { progressToken: 1 } })],
    ["a capability that is not known", initialize({}, { capabilities: { fly: {} } })],
    ["a capability that is no object", initialize({}, { capabilities: { roots: true } })],
    ["a flag that is none", initialize({}, { capabilities: { roots: { listChanged: "yes" } } })],
    ["tasks that are no objects", initialize({}, { capabilities: { tasks: { requests: { sampling: true } } } })],
    ["a list of capabilities", initialize({}, { capabilities: [] })],
    ["discovery of another revision", discover({ [`${META}protocolVersion`]: "2025-11-25" })],
    ["discovery without a client", discover({ [`${META}clientInfo`]: undefined })],
    ["discovery with more", discover({ [`${META}logLevel`]: "debug" })],
    ["discovery with parameters", discover({}, { cursor: "" })],
    ["discovery without _meta", { ...discover(), params: {} }],
  ])("is left to the server: %s", (_, request) => {
    expect(answerHandshake(typeof request === "string" ? request : JSON.stringify(request), VERSION)).toBeUndefined();
  });
});
