import type { ExecutorMessage } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { bytesOf, type Delta } from "./support/client.js";
import { useRealHosts } from "./support/real-host.js";

const BYTES = 2_000_000;
const WINDOW_BYTES = 256 * 1024;

describe("flow control where nothing can be resumed", () => {
  const createClient = useRealHosts();

  it("is offered where it was asked for", async () => {
    const asked = await createClient().initialize({ flowControl: true });
    expect(asked.capabilities).toEqual(["tool_output", "cancel_tool", "session_exited", "flow_control"]);
    expect(asked).toMatchObject({ ackBytes: 131_072 });
    const notAsked = await createClient().initialize({ acknowledges: true });
    expect(notAsked.capabilities).toEqual(["tool_output", "cancel_tool", "session_exited"]);
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
});
