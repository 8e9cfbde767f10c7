import { type ChannelLimits, createMemoryChannelPair } from "@codex/channel";
import { afterEach } from "vitest";
import { createCountingIds, createExecutor, type ExecutorOptions } from "../../src/index.js";
import { Client } from "./client.js";
import { ManualClock } from "./manual-clock.js";
import { createScriptedBackend, type ScriptedBackend } from "./scripted-backend.js";

export interface ScriptedHost {
  clock: ManualClock;
  backend: ScriptedBackend;
  client: Client;
}

/** Executors over scripted processes and manual time; closed after each test, with no timer left. */
export function useScriptedHosts() {
  const hosts: ScriptedHost[] = [];
  afterEach(async () => {
    for (const { client, clock } of hosts.splice(0)) {
      await client.close();
      if (clock.waiting > 0) throw new Error(`${clock.waiting} timers were left behind`);
    }
  });
  return (options: Partial<ExecutorOptions> & { channel?: Partial<ChannelLimits> } = {}): ScriptedHost => {
    const { channel, ...rest } = options;
    const clock = new ManualClock();
    const backend = createScriptedBackend(clock);
    const executor = createExecutor({ backend, clock, ids: createCountingIds(), ...rest });
    const host = { clock, backend, client: new Client(executor, createMemoryChannelPair(channel)) };
    hosts.push(host);
    return host;
  };
}
