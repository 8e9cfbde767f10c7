import type { ExecutorMessage } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { bytesOf, type Delta } from "../support/client.js";
import { useRealHosts } from "../support/real-host.js";

const BYTES = 2_000_000;
const WINDOW_BYTES = 256 * 1024;
const ALWAYS = ["tool_output", "cancel_tool", "session_exited", "concurrent_input", "clients"];
const GATE = ["exec_gate", "limits"];

describe("flow control where nothing can be resumed", () => {
  const createClient = useRealHosts();

  it("is offered where it was asked for", async () => {
    const asked = await createClient().initialize({ flowControl: true });
    const network =
      asked.host.sandbox?.kind === "bubblewrap" ? ["managed_network", "host_reports", "network_routes"] : [];
    expect(asked.capabilities).toEqual([...ALWAYS, "flow_control", ...GATE, ...network]);
    expect(asked).toMatchObject({ ackBytes: 131_072 });
    const notAsked = await createClient().initialize({ acknowledges: true });
    expect(notAsked.capabilities).toEqual([...ALWAYS, ...GATE, ...network]);
    expect(notAsked).not.toHaveProperty("ackBytes");
  });

  it("sends about a window ahead of what was acknowledged, answers others, and goes on", async () => {
    const client = createClient();
    await client.initialize({ flowControl: true });
    const command = ["head", "-c", String(BYTES), "/dev/zero"];
    const flooding = client.exec({ command, whenFull: "pause" }, "flood");
    const end = ({ offset, chunk }: Delta) => offset + Buffer.byteLength(chunk, "base64");
    const isBeyond = (bytes: number) => (message: ExecutorMessage) =>
      message.type === "tool_output" && message.requestId === "flood" && end(message) > bytes;
    const received = () => Math.max(...client.deltas("flood").map(end));
    await client.find(isBeyond(WINDOW_BYTES - 1));
    for (let count = 0; count < 10; count++) {
      expect((await client.exec({ command: ["echo", "hi"] })).output).toBe("hi\n");
    }
    expect(received()).toBeLessThan(2 * WINDOW_BYTES);
    for (let told = 0; told < BYTES; ) {
      await client.find(isBeyond(told));
      const [{ processId }] = client.deltas("flood") as [Delta];
      told = received();
      await client.send({ type: "ack", output: [{ processId, offset: told }] });
    }
    expect((await flooding).result).toMatchObject({ exitCode: 0, range: { from: 0, to: BYTES } });
    expect(bytesOf(client.deltas("flood"))).toHaveLength(BYTES);
  });

  it("counts what is gone as nothing that has to be acknowledged", async () => {
    const client = createClient();
    const { ackBytes = 0 } = await client.initialize({ flowControl: true });
    // Nobody receives while it writes: most of it is gone by the next call.
    const script = `printf ready; read go; head -c ${2 * BYTES} /dev/zero; printf written >&2; read go`;
    const started = await client.exec({
      command: ["sh", "-c", script],
      stdin: "open",
      whenFull: "drop",
      until: "output",
    });
    const id = started.result.processId!;
    await client.write({ processId: id, input: "go\n", until: "written", yieldTimeMs: 0 });
    for (let end = 0; end < 2 * BYTES; ) {
      const read = await client.call("read_output", { session_id: id, from: end, chunks: true, wait_ms: 10_000 });
      expect(read).toMatchObject({ status: "success", structured: { end: expect.any(Number) } });
      if (read.status === "success") end = Number((read.structured as Record<string, unknown>).end);
    }
    const polled = client.write({ processId: id, input: "go\n", yieldTimeMs: 60_000, maxOutputTokens: 1000 });
    let isOver = false;
    void polled.finally(() => {
      isOver = true;
    });
    let bytes = 0;
    for (let count = client.deltas().length; !isOver; ) {
      const deltas = client.deltas();
      bytes += deltas.slice(count).reduce((sum, { chunk }) => sum + Buffer.byteLength(chunk, "base64"), 0);
      count = deltas.length;
      if (bytes >= ackBytes) {
        const { offset, chunk } = deltas.at(-1)!;
        await client.send({
          type: "ack",
          output: [{ processId: id, offset: offset + Buffer.byteLength(chunk, "base64") }],
        });
        bytes = 0;
      }
      await Promise.race([polled, client.find((message) => message.type === "tool_output" && message.seq > count)]);
    }
    expect((await polled).result.range.to).toBeGreaterThanOrEqual(2 * BYTES);
  });
});
