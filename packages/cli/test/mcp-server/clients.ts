import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from "@modelcontextprotocol/client";
import { StdioClientTransport as V2Stdio } from "@modelcontextprotocol/client/stdio";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as V1Stdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as V1Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";

/** Both lines of the SDK; the second one with each way to choose a revision. */
export const CLIENTS = ["v1", "v2 legacy", "v2 pin", "v2 auto"] as const;
export type ClientKind = (typeof CLIENTS)[number];

/** How a client reaches the server. */
export type Target = { command: string; args: string[] } | { url: string; token?: string };

interface CallParams {
  name: string;
  arguments: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { message?: string | undefined }) => void;
}

interface CallResult {
  content?: unknown;
  isError?: boolean | undefined;
}

/** What the tests use of a client. */
export interface TestClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: CallParams, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

/** The answer of the client's user to each question. */
export type Answer = "accept" | "decline" | undefined;

const MODES = { "v2 legacy": "legacy", "v2 pin": { pin: "2026-07-28" }, "v2 auto": "auto" } as const;
const INFO = { name: "test", version: "1" };

/** Connects a client, which is closed with the test. Without an answer it cannot ask. */
export async function connect(kind: ClientKind, target: Target, answer?: Answer): Promise<TestClient> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = kind === "v1" ? await connectV1(target, capabilities, answer) : await connectV2(kind, target, answer);
  onTestFinished(() => client.close());
  return client;
}

const reply = (answer: Answer) =>
  answer === "accept" ? { action: "accept" as const, content: { decision: "accept" } } : { action: "decline" as const };

const headersOf = (token: string | undefined) =>
  token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };

async function connectV1(target: Target, capabilities: object, answer: Answer): Promise<TestClient> {
  const client = new V1Client(INFO, { capabilities });
  if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, () => reply(answer));
  const http = "url" in target;
  const transport = http ? new V1Http(new URL(target.url), headersOf(target.token)) : new V1Stdio(target);
  // The transport's `sessionId` may be undefined, which the interface of the SDK does not allow with exact optional types.
  await client.connect(transport as Parameters<V1Client["connect"]>[0]);
  return {
    listTools: () => client.listTools(),
    // Without a result schema it resolves with the result of a tool.
    callTool: (params, options) => client.callTool(params, undefined, options) as Promise<CallResult>,
    close: () => client.close(),
  };
}

async function connectV2(kind: Exclude<ClientKind, "v1">, target: Target, answer: Answer): Promise<TestClient> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new V2Client(INFO, { capabilities, versionNegotiation: { mode: MODES[kind] } });
  if (answer !== undefined) client.setRequestHandler("elicitation/create", () => reply(answer));
  const http = "url" in target;
  await client.connect(http ? new V2Http(new URL(target.url), headersOf(target.token)) : new V2Stdio(target));
  return {
    listTools: () => client.listTools(),
    callTool: (params, options) => client.callTool(params, options),
    close: () => client.close(),
  };
}

/** Text of a result. */
export const textOf = ({ content }: CallResult): string =>
  // The shape of a tool result.
  ((content ?? []) as { text?: string }[]).map(({ text }) => text ?? "").join("");
