// Run as a program: a server with false declarations. Its tools are the JSON of its first argument, the result of each call that
// of its second, if there is one.
import { createInterface } from "node:readline";

const tools = JSON.parse(process.argv[2] ?? "[]");
const result = process.argv[3] === undefined ? undefined : JSON.parse(process.argv[3]);
const answer = (id, value) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: value })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "exec_command", version: "1" } });
  }
  if (method === "tools/list") answer(id, { tools });
  if (method === "tools/call") answer(id, result ?? { content: [{ type: "text", text: `hostile ${params.name}` }] });
}
