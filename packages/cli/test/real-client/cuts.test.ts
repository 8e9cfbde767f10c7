import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createCuttingProxy } from "@codex/testkit";
import { describe, expect, it } from "vitest";
import { exec, inTurn, openTerminal, outputOf, sessionOf, type } from "./calls.js";
import { expectNumbers, PRINT_NUMBERS } from "./numbers.js";
import { CODEX_BINARY, OTHER_SERVER, useRealClient } from "./support.js";
import { openWiretap, type Passed } from "./wiretap.js";

const lines = (to: number) => Array.from({ length: to }, (_, index) => `${index + 1}\n`).join("");

describe.skipIf(CODEX_BINARY === undefined)("the real client on a connection that breaks (needs CODEX_BINARY)", () => {
  const client = useRealClient();

  it("gets each line once when it breaks in the middle of output", async () => {
    const proxy = await createCuttingProxy(client.url);
    client.onEnd(() => proxy.close());
    const results: string[] = [];
    await client.run(
      (function* () {
        results.push(yield exec("until [ -e go ]; do sleep 0.02; done; seq 20000", { yield_time_ms: 500 }));
        proxy.cutAfterReceived(50_000);
        client.write("go", "");
        results.push(yield type(sessionOf(results[0]!), "", { yield_time_ms: 30_000 }));
      })(),
      { url: proxy.url },
    );
    expect(proxy.connections).toBe(2);
    expect(results.map(outputOf).join("")).toBe(lines(20_000));
    expect(results.at(-1)).toContain("Process exited with code 0");
  });

  // Codex's server runs on while nobody listens; its client gives up when it cannot hold what comes before the rest.
  it.skipIf(OTHER_SERVER !== undefined)("gets five megabytes to the byte when it breaks again and again", async () => {
    const wiretap = await openWiretap(client.url);
    client.onEnd(() => wiretap.close());
    wiretap.judge = ({ method }) => {
      if (method !== "process/output") return "pass";
      outputs += 1;
      return outputs % 10 === 0 ? "drop and cut" : "pass";
    };
    let outputs = 0;
    const results: string[] = [];
    await client.run(inTurn([exec(PRINT_NUMBERS, { yield_time_ms: 30_000 })], results), { url: wiretap.url });
    expect(wiretap.connections).toBeGreaterThan(1);
    expectNumbers(results[0]!);
  });

  // Codex's server keeps any number of sessions.
  it.skipIf(OTHER_SERVER !== undefined)(
    "goes on after an idle cut, with more connections meanwhile than there is room for",
    async () => {
      const wiretap = await openWiretap(client.url);
      client.onEnd(() => wiretap.close());
      const lookIn = async () => {
        const channel = await connectWebSocketChannel(client.url);
        void channel.send({ id: 1, method: "initialize", params: { clientName: "probe" } });
        await channel.receive();
        await channel.close();
      };
      wiretap.judge = ({ from, id }) => {
        const last = wiretap.passed.find(({ method }) => method === "process/terminate");
        if (from !== "server" || last === undefined || id !== last.id || wiretap.connections > 1) return "pass";
        wiretap.admit = async () => {
          for (let count = 0; count < 1040; count += 8) await Promise.all(Array.from({ length: 8 }, lookIn));
        };
        return "drop and cut";
      };
      const results: string[] = [];
      await client.run(inTurn([exec("echo one"), exec("echo two")], results), { url: wiretap.url });
      const [first, second, ...more] = wiretap.passed.filter(({ method }) => method === "initialize");
      expect([first?.params?.resumeSessionId, typeof second?.params?.resumeSessionId, more]).toEqual([
        null,
        "string",
        [],
      ]);
      expect(results.map(outputOf)).toEqual(["one\n", "two\n"]);
    },
  );

  it("leaves nothing running when the answer to a start is lost", async () => {
    const wiretap = await openWiretap(client.url);
    client.onEnd(() => wiretap.close());
    wiretap.judge = ({ from, id }) => {
      const start = wiretap.passed.find(({ method }) => method === "process/start");
      const isAnswer = from === "server" && start !== undefined && id === start.id;
      return isAnswer && wiretap.connections === 1 ? "drop and cut" : "pass";
    };
    const { port } = new URL(client.url); // no other command has this number in it
    const lost = exec(`sleep 1000.${port}`);
    const wait = exec(`while ps -A -o args= | grep -q '[1]000\\.${port}'; do sleep 0.05; done; echo gone`);
    const results: string[] = [];
    await client.run(inTurn([lost, wait], results), { url: wiretap.url });
    expect(wiretap.connections).toBe(2);
    expect(results[0]).toContain("exec-server transport disconnected");
    expect(outputOf(results[1]!)).toBe("gone\n");
  });

  /** Messages at which it breaks: the write itself, or the answer to it. */
  const moments: Record<string, (message: Passed, write: Passed | undefined) => boolean> = {
    "before the server has it": ({ method }) => method === "process/write",
    "when the server has written it": ({ from, id }, write) =>
      from === "server" && write !== undefined && id === write.id,
  };
  it.each(Object.entries(moments))("writes once what was typed, broken %s", async (_, isMoment) => {
    const wiretap = await openWiretap(client.url);
    client.onEnd(() => wiretap.close());
    wiretap.judge = (message) => {
      const write = wiretap.passed.find(({ method }) => method === "process/write");
      return wiretap.connections === 1 && isMoment(message, write) ? "drop and cut" : "pass";
    };
    const results: string[] = [];
    await client.run(
      (function* () {
        const session = yield* openTerminal(
          "stty -echo; echo ready; while read -r it; do echo $it >>got; done",
          /ready/,
        );
        results.push(yield type(session, "once\n"));
        results.push(yield type(session, "last\n\u0004", { yield_time_ms: 30_000 }));
      })(),
      { url: wiretap.url },
    );
    expect(wiretap.connections).toBe(2);
    expect(readFileSync(join(client.directory, "got"), "utf8")).toBe("once\nlast\n");
    expect(results.at(-1)).toContain("Process exited with code");
    const ids = wiretap.passed.filter(({ method }) => method === "process/write").map(({ params }) => params?.writeId);
    expect(ids).toEqual(["1", "1", "2"]);
  });
});
