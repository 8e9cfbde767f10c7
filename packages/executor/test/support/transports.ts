import { PassThrough } from "node:stream";
import { type Channel, createMemoryChannelPair, createStdioChannel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";

/** Every kind of channel, for bodies that run over each: the orchestrator's end, and the executor's. */
export const TRANSPORTS = [
  { name: "memory", open: async () => createMemoryChannelPair() },
  { name: "stdio", open: openStdio },
  { name: "websocket", open: openWebSocket },
] as const;

async function openStdio(): Promise<[Channel, Channel]> {
  const there = new PassThrough();
  const back = new PassThrough();
  return [createStdioChannel({ input: back, output: there }), createStdioChannel({ input: there, output: back })];
}

async function openWebSocket(): Promise<[Channel, Channel]> {
  let accept!: (channel: Channel) => void;
  const accepted = new Promise<Channel>((resolve) => {
    accept = resolve;
  });
  const listener = await createWebSocketListener({ port: 0, onChannel: accept });
  const own = await connectWebSocketChannel(listener.url);
  const theirs = await accepted;
  void own.closed.then(() => listener.close());
  return [own, theirs];
}
