import type { Channel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";

/** A message as it passed; requests and notifications have a method. */
export interface Passed {
  from: "client" | "server";
  id?: number;
  method?: string;
  params?: Readonly<Record<string, unknown>>;
}

type Verdict = "pass" | "drop and cut";

/** Stands between client and server: keeps what passed, and may break the connection at a message. */
export interface Wiretap {
  readonly url: string;
  readonly passed: readonly Passed[];
  /** Connections so far. */
  readonly connections: number;
  /** Asked for each message before it is passed on. */
  judge: (message: Passed) => Verdict;
  /** A connection goes on to the server once this resolves. */
  admit: () => Promise<unknown>;
  close(): Promise<void>;
}

export async function openWiretap(target: string): Promise<Wiretap> {
  const passed: Passed[] = [];
  let connections = 0;
  const carry = async (from: Channel, to: Channel, side: Passed["from"]) => {
    for (let next = await from.receive(); next?.kind === "value"; next = await from.receive()) {
      const message = { ...(next.value as Omit<Passed, "from">), from: side };
      passed.push(message);
      if (wiretap.judge(message) !== "pass") break;
      await to.send(next.value).catch(() => {});
    }
    await Promise.all([from.close({ abrupt: true }), to.close({ abrupt: true })]);
  };
  const listener = await createWebSocketListener({
    port: 0,
    onChannel: (near) => {
      connections += 1;
      void wiretap
        .admit()
        .then(() => connectWebSocketChannel(target))
        .then(
          (far) => Promise.all([carry(near, far, "client"), carry(far, near, "server")]),
          () => near.close(),
        );
    },
  });
  const wiretap: Wiretap = {
    url: listener.url,
    passed,
    get connections() {
      return connections;
    },
    judge: () => "pass",
    admit: () => Promise.resolve(),
    close: () => listener.close(),
  };
  return wiretap;
}
