import { openNoiseChannel, serveExecutorRelay } from "@codex/relay";
import { createCuttingProxy } from "@codex/testkit";
import { expect, it, onTestFinished } from "vitest";
import { listenRendezvous } from "../src/listen.js";
import { Rendezvous } from "../src/rendezvous.js";
import { startRendezvous, until } from "./support.js";

/** Messages of one run. */
const COUNT = 400;

it("a stream between two of our ends outlives cuts on both sides and a restart: nothing is lost or repeated", async () => {
  const first = await startRendezvous();
  const { port } = new URL(first.url);
  const registryThrough = async () => {
    const proxy = await createCuttingProxy(first.url);
    onTestFinished(() => proxy.close());
    const url = proxy.url.replace("ws", "http");
    return { proxy, registry: { url, environmentId: "env-1", authorize: () => ({ authorization: "Bearer any" }) } };
  };
  const [near, far] = [await registryThrough(), await registryThrough()];
  let streams = 0;
  const executor = await serveExecutorRelay({
    registry: far.registry,
    onStream: async (channel) => {
      streams += 1;
      for (let item = await channel.receive(); item !== undefined && "value" in item; item = await channel.receive()) {
        await channel.send({ echo: item.value });
      }
    },
  });
  onTestFinished(() => executor.close());
  await until(() => first.count("executors_live") === 1);
  const harness = await openNoiseChannel({ registry: near.registry });
  onTestFinished(() => harness.close({ deadlineMs: 0 }));
  const echoes: unknown[] = [];
  const received = (async () => {
    while (echoes.length < COUNT) {
      const item = await harness.receive();
      if (item === undefined || !("value" in item))
        throw new Error(`the channel ended after ${echoes.length} messages`);
      echoes.push(item.value);
    }
  })();
  for (let sent = 0; sent < COUNT; sent += 1) {
    if (sent === 100 || sent === 200) {
      const { proxy } = sent === 100 ? near : far;
      proxy.setDown(true);
      proxy.setDown(false);
    }
    if (sent === 300) {
      await first.listener.close();
      const second = await listenRendezvous(new Rendezvous(), { port: Number(port) });
      onTestFinished(() => second.close());
    }
    await harness.send({ sent });
    // Before its first answer a stream cannot go on elsewhere: the other end may be Codex.
    if (sent === 0) await until(() => echoes.length === 1);
  }
  await received;
  expect(echoes).toEqual(Array.from({ length: COUNT }, (_, sent) => ({ echo: { sent } })));
  expect(streams).toBe(1);
});
