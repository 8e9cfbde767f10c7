// An MCP server on stdin and stdout: one JSON-RPC message a line.
import { createInterface } from "node:readline";
import { respond } from "./mcp-tools.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const answer = respond(JSON.parse(line));
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
}
