import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Channel, type ChannelLimits, createMemoryChannelPair, createStdioChannel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";
import type { Pair, Transport } from "./contract/transport.js";
import { createTunnelPair } from "./tunnel/support.js";

export const memory: Transport = {
  name: "memory",
  hasWire: false,
  async open(limits) {
    const [left, right] = createMemoryChannelPair(limits);
    return { left, right, dispose: () => closeBoth(left, right) };
  },
};

/** Real pipes: each direction runs through a process that copies bytes. */
export const stdio: Transport = {
  name: "stdio",
  hasWire: true,
  async open(limits) {
    const there = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] });
    const back = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] });
    const exited = Promise.all([once(there, "exit"), once(back, "exit")]);
    const left = createStdioChannel({ input: back.stdout, output: there.stdin, ...optional(limits) });
    const right = createStdioChannel({ input: there.stdout, output: back.stdin, ...optional(limits) });
    const cut = () => {
      there.kill("SIGKILL");
      back.kill("SIGKILL");
    };
    const dispose = async () => {
      cut();
      await closeBoth(left, right);
      await exited;
    };
    return { left, right, cut, dispose };
  },
};

export const websocket: Transport = {
  name: "websocket",
  hasWire: true,
  async open(limits) {
    let accept!: (channel: Channel) => void;
    const accepted = new Promise<Channel>((resolve) => {
      accept = resolve;
    });
    let cut!: () => void;
    const listener = await createWebSocketListener({
      port: 0,
      ...optional(limits),
      onChannel: (channel, request) => {
        cut = () => request.socket.destroy();
        accept(channel);
      },
    });
    const left = await connectWebSocketChannel(listener.url, optional(limits));
    const right = await accepted;
    const dispose = async () => {
      await closeBoth(left, right);
      await listener.close();
    };
    return { left, right, cut, dispose } satisfies Pair;
  },
};

/** Two ends of a tunnel; each message arrives in a later turn. */
export const tunnel: Transport = {
  name: "a tunnel",
  hasWire: true,
  isTextOnly: true,
  async open(limits) {
    const { left, right } = createTunnelPair({ ...optional(limits) });
    const cut = () => {
      left.fail(new Error("cut"));
      right.fail(new Error("cut"));
    };
    return { left, right, cut, dispose: () => closeBoth(left, right) };
  },
};

const optional = (limits: Partial<ChannelLimits> | undefined) => (limits === undefined ? {} : { limits });

async function closeBoth(left: Channel, right: Channel): Promise<void> {
  await Promise.all([left.close({ deadlineMs: 200 }), right.close({ deadlineMs: 200 })]);
}
