// `codex mcp-server` that gets SIGTERM while a call follows a program.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "../support.js";

const { start } = useCommand();
const SERVER = ["mcp-server", "-c", 'approval_policy="never"', "-s", "danger-full-access"];
const TRAPPING = "trap 'echo last words; exit 7' TERM; echo ready; while :; do sleep 0.02; done";
const IGNORING = "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done";
const PARAMS = { name: "exec_command", arguments: { cmd: TRAPPING, yield_time_ms: 30_000, login: false } };

it.each([
  ["that ends itself", TRAPPING, /ready\n(Terminated\n)?last words/, /exited with code 7/],
  ["that ignores SIGTERM", IGNORING, /ready\n(Terminated\n)?no/, /SIGKILL/],
])("a client on stdio gets the end and the last output of a program %s", async (_, cmd, output, end) => {
  const child = start(SERVER);
  const ended = finish(child);
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  send({ id: 0, method: "initialize", params: hello });
  send({ method: "notifications/initialized" });
  const call = { ...PARAMS, arguments: { ...PARAMS.arguments, cmd }, _meta: { progressToken: 1 } };
  send({ id: 1, method: "tools/call", params: call });
  let answer = "";
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, method } = JSON.parse(line);
    if (method === "notifications/progress" && line.includes("ready")) child.kill("SIGTERM");
    if (id === 1) answer = JSON.parse(line).result.content[0].text;
  }
  expect(answer).toMatch(output);
  expect(answer).toMatch(end);
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

it("a client over HTTP gets the end and the last output of its program", async () => {
  const child = start([...SERVER, "--listen", "http://127.0.0.1:0"]);
  const ended = finish(child);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  const onprogress = ({ message }: { message?: string | undefined }) => {
    if (message?.includes("ready") === true) child.kill("SIGTERM");
  };
  const { content } = await client.callTool(PARAMS, { onprogress });
  const [{ text } = { text: "" }] = content as { text: string }[];
  expect(text).toMatch(/exited with code 7/);
  expect(text).toMatch(/ready\n(Terminated\n)?last words/);
  expect(await ended).toMatchObject({ code: 0, signal: null });
});
