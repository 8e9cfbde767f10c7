import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import { Client } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { type ExecutorStdioServer, executorStdio } from "../../src/index.js";
import { SERVER, untilGone } from "../support.js";

const { command, args } = SERVER;
const words = [command, ...args].map((word) => `'${word}'`).join(" ");

/** A client of a server on an executor, and what its transport reported, in order. */
async function connect(
  server: Partial<ExecutorStdioServer> = {},
  policy: LocalOrchestratorOptions["policy"] = { approvalPolicy: "never", sandbox: "danger-full-access" },
) {
  const orchestrator = await createLocalOrchestrator({ policy });
  onTestFinished(() => orchestrator.close());
  const transport = executorStdio(orchestrator, { command, args, environment: "local", ...server });
  onTestFinished(() => transport.close());
  const client = new Client({ name: "tests", version: "1.0.0" });
  const events: string[] = [];
  client.onerror = ({ message }) => events.push(message);
  client.onclose = () => events.push("closed");
  return { client, transport, events, connected: client.connect(transport) };
}

const shell = (script: string): Partial<ExecutorStdioServer> => ({ command: "sh", args: ["-c", script] });

it("a server of an executor is initialized, listed, called and closed", async () => {
  const { client, transport, connected } = await connect();
  await connected;
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  const big = await client.callTool({ name: "big", arguments: { bytes: 3_000_000 } });
  expect(big.content).toEqual([{ type: "text", text: "x".repeat(3_000_000) }]);
  await client.close();
  expect(transport.outcome?.kind).not.toBe("running");
});

it("a server that dies in initialize is reported with its reason, before the end", async () => {
  const { connected, events } = await connect(shell("echo no licence >&2; read line; exit 3"));
  await expect(connected).rejects.toThrow();
  await expect.poll(() => events.at(-1)).toBe("closed");
  expect(events[0]).toMatch(/the MCP server ended: it exited with code 3; on stderr: .*no licence/);
});

it("a server that cannot be started is reported with its reason", async () => {
  const { connected, events } = await connect({ command: "/no/such/server" });
  await expect(connected).rejects.toThrow(/\/no\/such\/server/);
  expect(events).toEqual([expect.stringContaining("/no/such/server"), "closed"]);
});

it("a server that the policy does not allow is not started", async () => {
  const { connected, events } = await connect(undefined, { approvalPolicy: "untrusted" });
  await expect(connected).rejects.toThrow(/Nothing was run/);
  expect(events.at(-1)).toBe("closed");
});

it("a transport that is closed while its approval is open starts nothing", async () => {
  let onAsked = () => {};
  const question = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const approver = {
    requestApproval: () => {
      onAsked();
      return new Promise<never>(() => {});
    },
  };
  const orchestrator = await createLocalOrchestrator({ policy: { approvalPolicy: "untrusted" }, approver });
  onTestFinished(() => orchestrator.close());
  const transport = executorStdio(orchestrator, { command, args });
  const started = transport.start();
  await question;
  await transport.close();
  await expect(started).rejects.toThrow(/interrupted/i);
});

it("a flood on stderr holds nothing back", async () => {
  const { client, connected } = await connect(shell(`head -c 20000000 /dev/zero >&2; exec ${words}`));
  await connected;
  const answer = await client.callTool({ name: "echo", arguments: { words: "after the flood" } });
  expect(answer.content).toEqual([{ type: "text", text: "after the flood" }]);
});

it("a message that is too long ends the server, and what it has started", async () => {
  const script = "read line; sleep 1000 & echo pid $! >&2; head -c 12000000 /dev/zero | tr '\\0' a; wait";
  const { connected, events, transport } = await connect(shell(script));
  await expect(connected).rejects.toThrow();
  await expect.poll(() => events.at(-1)).toBe("closed");
  expect(events.join()).toMatch(/10485760 bytes|10 MiB|too long/);
  await untilGone(Number(/pid (\d+)/.exec(transport.stderr)?.[1]));
});
