// The MCP server of the tests, for stdio and for HTTP.
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

export function createServer() {
  const server = new McpServer({ name: "tests", version: "1.0.0" });
  const add = (name, shape, run, more = {}) =>
    server.registerTool(name, { description: `${name} of the tests`, inputSchema: z.object(shape), ...more }, run);
  add("echo", { words: z.string() }, ({ words }) => text(words), { annotations: { readOnlyHint: true } });
  add("big", { bytes: z.number() }, ({ bytes }) => text("x".repeat(bytes)));
  add("env", {}, () => text(JSON.stringify(process.env)));
  add("fail", {}, () => ({ ...text("it failed on purpose"), isError: true }));
  add("image", {}, () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] }));
  add("picture", { data: z.string() }, ({ data }) => ({ content: [{ type: "image", data, mimeType: "image/png" }] }));
  add("pid", {}, () => {
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    return text(JSON.stringify([process.pid, child.pid]));
  });
  add("exit", { code: z.number() }, ({ code }) => {
    process.stderr.write("leaving \u001b[31mnow\n", () => process.exit(code));
    return new Promise(() => {});
  });
  add("steps", { count: z.number() }, async ({ count }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= count; progress += 1) {
      if (progressToken === undefined) break;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: count } });
    }
    return text(`${count} steps`);
  });
  add("wait_for", { file: z.string() }, async ({ file }) => {
    const { existsSync } = await import("node:fs");
    while (!existsSync(file)) await setTimeout(10);
    return text("it is there");
  });
  add("grow", { name: z.string() }, ({ name }) => {
    add(name, {}, () => text(`${name} was called`));
    return text("one more");
  });
  return server;
}
