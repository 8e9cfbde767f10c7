import { fileURLToPath } from "node:url";
import type { Channel } from "@codex/channel";
import { createWebSocketListener } from "@codex/channel/websocket";
import { connectStdio, connectWebSocket } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { closeAfterTest, scriptedChannel, serveScripted } from "./support/executors.js";
import { stage } from "./support/orchestrators.js";

const memory = () => Promise.resolve(scriptedChannel().channel);

const stdio = () => {
  const program = fileURLToPath(new URL("./programs/scripted-executor.mjs", import.meta.url));
  return connectStdio({ command: process.execPath, args: [program] });
};

const websocket = async () => {
  const listener = await createWebSocketListener({ port: 0, onChannel: (channel) => void serveScripted(channel) });
  closeAfterTest(() => listener.close());
  return connectWebSocket(listener.url);
};

const TRANSPORTS: [string, () => Promise<Channel>][] = [
  ["memory", memory],
  ["stdio", stdio],
  ["websocket", websocket],
];

describe.each(TRANSPORTS)("a session with a model over %s", (_name, open) => {
  it("runs commands, keeps a session, asks, is interrupted, and ends truthfully", async () => {
    const asked: string[] = [];
    const exits: number[] = [];
    const { orchestrator, problems, clock } = stage({
      onSessionExited: ({ sessionId }) => void exits.push(sessionId),
      approver: {
        requestApproval: async ({ command }) => {
          asked.push(command[2] ?? "");
          return "decline";
        },
      },
    });
    await orchestrator.attach({ name: "main", channel: open(), shutdownOnClose: false });
    const run = (cmd: string, options = {}) => orchestrator.callTool("exec_command", JSON.stringify({ cmd }), options);
    const write = (session_id: number, chars: string) => orchestrator.callTool("write_stdin", { session_id, chars });
    expect(orchestrator.listTools().map((tool) => tool.name)).toEqual([
      "exec_command",
      "write_stdin",
      "show_arguments",
    ]);

    const said: Buffer[] = [];
    const onOutput = ({ bytes }: { bytes: Buffer }) => void said.push(bytes);
    const long = "é".repeat(30_000);
    const printed = await run(`say ${long}`, { onOutput });
    expect(printed).toMatchObject({ status: "success", structured: { exitCode: 0, range: { from: 0, to: 60_000 } } });
    expect(printed.text.endsWith(`Output:\n${long}`)).toBe(true);
    expect(Buffer.concat(said).toString()).toBe(long);

    const together = await Promise.all(Array.from({ length: 50 }, (_, index) => run(`say ${index}`)));
    together.forEach((result, index) => void expect(result.text.endsWith(`Output:\n${index}`)).toBe(true));

    const stayed = await run("stay");
    const sessionId = Number(Reflect.get(Object(stayed.structured), "processId"));
    expect((await write(sessionId, "hello")).text).toMatch(/Output:\nhello$/);
    expect(await write(sessionId, "exit 3")).toMatchObject({ structured: { exitCode: 3 } });
    expect(await write(sessionId, "x")).toMatchObject({ status: "error", text: `unknown session ${sessionId}` });
    expect(exits).toEqual([sessionId]);

    expect(await run("rm -rf /")).toMatchObject({ status: "denied" });
    expect(asked).toEqual(["rm -rf /"]);

    const abort = new AbortController();
    const hung = await run("hang", { signal: abort.signal, onOutput: () => abort.abort() });
    expect(hung).toMatchObject({ status: "interrupted", structured: { outcome: { kind: "running" } } });

    const crashed = await run("crash");
    expect(crashed).toMatchObject({ status: "lost", structured: { outcome: { kind: "lost", lastSeq: 1 } } });
    expect(await run("say hi")).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    await orchestrator.close();
    expect(problems).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
