import type { SandboxMode } from "@codex/executor-protocol";
import { createLocalOrchestrator } from "@codex/local";
import { createMcpServers, type McpServerOptions } from "@codex/mcp";
import type { Orchestrator } from "@codex/orchestrator";
import { type ApprovalPolicy, parseRulePolicy } from "@codex/policy";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";

/** Both forms of the protocol: with `initialize` and a session, and without. */
export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

const NEGOTIATION = { legacy: { mode: "legacy" }, modern: { mode: { pin: "2026-07-28" } } } as const;

/** Answers a question shown to the user of a client. */
export type Decide = (
  message: string,
  choices: readonly string[],
) => { action: "accept" | "decline" | "cancel"; content?: Record<string, string> };

/** Servers of an orchestrator with an in-process executor; commands run without a sandbox. */
export async function open({
  approvalPolicy = "never",
  rules = "",
  sandbox = "danger-full-access",
  ...options
}: McpServerOptions & { approvalPolicy?: ApprovalPolicy; rules?: string; sandbox?: SandboxMode } = {}) {
  const orchestrator = await createLocalOrchestrator({
    policy: {
      approvalPolicy,
      sandbox,
      rules: parseRulePolicy([{ file: "default.rules", text: rules }]),
    },
    defaults: { login: false, shell: "sh" },
  });
  onTestFinished(() => orchestrator.close());
  const servers = createMcpServers(orchestrator, options);
  onTestFinished(() => servers.close());
  const connect = async (era: Era, decide?: Decide, name?: string) => {
    const [ours, its] = InMemoryTransport.createLinkedPair();
    serveStdio((context) => servers.create(context, name), { transport: its });
    const client = createClient(era, decide);
    await client.connect(ours);
    onTestFinished(() => client.close());
    return client;
  };
  return { orchestrator, servers, connect };
}

export function createClient(era: Era, decide?: Decide): Client {
  const capabilities = decide === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: NEGOTIATION[era], capabilities });
  if (decide === undefined) return client;
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    // The schema that the server sends.
    const schema = Reflect.get(params, "requestedSchema") as {
      properties: { decision: { oneOf: { const: string }[] } };
    };
    const choices = schema.properties.decision.oneOf.map((one) => one.const);
    return decide(params.message, choices);
  });
  return client;
}

/** Text of a result. */
export const textOf = (result: { content?: unknown }): string =>
  // The shape of a tool result.
  ((result.content ?? []) as { text?: string }[]).map(({ text }) => text ?? "").join("");

/** Ids of the sessions whose program is running. */
export async function listRunning(
  orchestrator: Orchestrator,
  sessionScope: "own" | "executor" = "own",
): Promise<number[]> {
  const { structured } = await orchestrator.callTool("list_sessions", {}, { sessionScope });
  const { sessions } = structured as { sessions: { sessionId: number; state: string }[] }; // shape of the tool's result
  return sessions.filter(({ state }) => state === "running").map(({ sessionId }) => sessionId);
}
