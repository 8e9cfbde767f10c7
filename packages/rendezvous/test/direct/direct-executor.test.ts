// Our direct executor through a rendezvous: one session in clear text for one harness after the other.
import { serveDirectExecutor } from "@codex/relay";
import { expect, it, onTestFinished } from "vitest";
import { dial, startRendezvous } from "../support.js";

it("serves one harness after the other, and registers again when the rendezvous has forgotten it", async () => {
  const started = await startRendezvous();
  const executor = serveDirectExecutor({
    registry: { url: started.url, environmentId: "env-1", authorize: () => ({ authorization: "Bearer any" }) },
    authorizeSocket: () => ({}),
    random: () => 0,
    onStream: async (channel) => {
      for (let item = await channel.receive(); item?.kind === "value"; item = await channel.receive()) {
        await channel.send({ echo: item.value });
      }
    },
  });
  onTestFinished(() => executor.close());
  const url = `${started.url.replace("http", "ws")}/direct/env-1`;
  for (let n = 0; n < 3; n += 1) {
    const harness = await dial(url);
    harness.socket.send(JSON.stringify({ n }));
    const { bytes, isBinary } = await harness.next();
    expect([JSON.parse(bytes.toString()), isBinary]).toEqual([{ echo: { n } }, false]);
    harness.socket.close();
    expect(await harness.closed).toBe(1005);
  }
  expect(started.count("registrations_total", "direct")).toBe(1);
});
