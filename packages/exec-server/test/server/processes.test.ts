import { describe, expect, it } from "vitest";
import { paramsOf, startParams, useServer } from "./support.js";

describe("processes", () => {
  const server = useServer();

  it("tells output, exit and close in this order with one count", async () => {
    const client = await server.ready();
    expect(await client.start("p", ["/bin/sh", "-c", "printf hi; exit 3"])).toEqual({
      processId: "p",
      sandboxType: "none",
    });
    await client.untilEvent("process/closed", "p");
    expect(client.eventsOf("p")).toEqual([
      { method: "process/output", params: { processId: "p", seq: 1, stream: "stdout", chunk: "aGk=" } },
      { method: "process/exited", params: { processId: "p", seq: 2, exitCode: 3, sandboxDenied: false } },
      { method: "process/closed", params: { processId: "p", seq: 3 } },
    ]);
  });

  it("answers a start before its first event", async () => {
    const client = await server.ready();
    const ids = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const answers = ids.map((id) => client.request("process/start", startParams(id, ["/bin/echo", id])));
    await Promise.all(answers);
    for (const id of ids) {
      await client.untilEvent("process/closed", id);
      const answer = client.received.findIndex(
        ({ result }) => result !== undefined && (result as { processId?: string }).processId === id,
      );
      const event = client.received.findIndex((message) => "method" in message && paramsOf(message).processId === id);
      expect(answer).toBeGreaterThan(-1);
      expect(answer).toBeLessThan(event);
      expect(client.eventsOf(id).map((message) => paramsOf(message).seq)).toEqual([1, 2, 3]);
    }
  });
});
