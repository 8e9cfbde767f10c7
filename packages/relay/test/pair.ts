import type { Channel, ChannelLimits } from "@codex/channel";
import { type ExecutorRelay, openNoiseChannel, type RegistryAddress, serveExecutorRelay } from "../src/index.js";
import { startRendezvous, type TestRendezvous } from "./rendezvous.js";

/** An executor and whatever harnesses a test opens, with a rendezvous between them. */
export interface Relayed {
  rendezvous: TestRendezvous;
  registry: RegistryAddress;
  executor: ExecutorRelay;
  /** The end of the next stream at the executor. */
  accept(): Promise<Channel>;
  /** Opens a stream: its end here, and its end at the executor, once something was sent over it. */
  open(): Promise<{ harness: Channel; accepted: Promise<Channel> }>;
  close(): Promise<void>;
}

export async function startRelayed(limits?: Partial<ChannelLimits>): Promise<Relayed> {
  const rendezvous = await startRendezvous();
  const registry = {
    url: rendezvous.url,
    environmentId: "env-1",
    authorize: () => ({ authorization: "Bearer dummy" }),
  };
  const opened: Channel[] = [];
  const waiting: ((channel: Channel) => void)[] = [];
  const accept = () => new Promise<Channel>((resolve) => waiting.push(resolve));
  const executor = await serveExecutorRelay({
    registry,
    isEager: true,
    random: () => 0,
    ...(limits === undefined ? {} : { limits }),
    onStream: (channel) => {
      opened.push(channel);
      waiting.shift()?.(channel);
    },
  });
  await rendezvous.connected();
  return {
    rendezvous,
    registry,
    executor,
    accept,
    async open() {
      const accepted = accept();
      const harness = await openNoiseChannel({ registry, ...(limits === undefined ? {} : { limits }) });
      opened.push(harness);
      return { harness, accepted };
    },
    async close() {
      await Promise.all(opened.map((channel) => channel.close({ deadlineMs: 0 })));
      await executor.close();
      await rendezvous.close();
    },
  };
}
