// Several nodes on NATS. RENDEZVOUS_EXECUTORS=300 RENDEZVOUS_HARNESSES=600 is the run whose figures docs/scale.md gives.
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { connect, dial, makeKey, registerBody, send } from "../support.js";
import { type EndsOptions, hasNats, startBalancer, startEnds, startNats, startNode } from "./nodes.js";

const isLarge = process.env.RENDEZVOUS_EXECUTORS !== undefined;
const EXECUTORS = Number(process.env.RENDEZVOUS_EXECUTORS ?? 9);
const HARNESSES = Number(process.env.RENDEZVOUS_HARNESSES ?? 18);
/** Between two messages of a harness: all ends share one machine. */
const INTERVAL_MS = Math.max(250, 2 * HARNESSES);
const ENDS_PER_PROCESS = 300;
/** After the death of a node; as many as are under way until the last ones are back, where figures are wanted. */
const EXCHANGES_AFTER = isLarge ? 6 : 1;

/** Posts to one node. */
const postTo = (url: string) => ({
  post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(url, { method: "POST", path, body: JSON.stringify(body), headers }),
});

describe.skipIf(!hasNats)("nodes that share registrations (needs nats-server)", () => {
  it("send a harness to the node that holds the executor, wherever both have asked", async () => {
    const nats = await startNats();
    const [a, b, c] = [await startNode(nats.url), await startNode(nats.url), await startNode(nats.url)];
    const answer = await postTo(a.url).post("/cloud/environment/env-1/register", registerBody());
    expect(answer.status).toBe(200);
    // The executor dials another node than the one where it has registered, as behind a load balancer.
    const executor = await dial(answer.body.url!.replace(new URL(a.url).host, new URL(b.url).host));
    const harnesses = [];
    for (const node of [a, b, c]) {
      const meeting = await connect(postTo(node.url) as never);
      expect(new URL(meeting.url).host).toBe(new URL(b.url).host);
      const harness = await dial(meeting.url);
      harness.send(`s-${harnesses.length}`, { kind: "heartbeat" });
      expect((await executor.nextFrame()).streamId).toBe(`s-${harnesses.length}`);
      // The executor asks about it at any node; each authorization is good once.
      const validation = {
        executor_registration_id: answer.body.executor_registration_id,
        harness_public_key: meeting.key,
        harness_key_authorization: meeting.authorization,
      };
      const stream = { "x-codex-noise-stream-id": `s-${harnesses.length}` };
      for (const [other, body] of [
        [c, { valid: true }],
        [a, { valid: false, reason: "ticket_used" }],
        [b, { valid: false, reason: "ticket_used" }],
      ] as const) {
        expect((await postTo(other.url).post("/cloud/environment/env-1/validate", validation, stream)).body).toEqual(
          body,
        );
      }
      // The ticket of its connection is for that node, and used up.
      await expect(dial(meeting.url)).rejects.toThrow("409 ticket_used");
      await expect(dial(meeting.url.replace(new URL(b.url).host, new URL(c.url).host))).rejects.toThrow("503");
      harnesses.push(harness);
    }
  });

  it("take over an executor that comes to another one: its former connection is closed, and so is that of a replaced one", async () => {
    const nats = await startNats();
    const [a, b] = [await startNode(nats.url), await startNode(nats.url)];
    const { body } = await postTo(a.url).post("/cloud/environment/env-1/register", registerBody());
    const first = await dial(body.url!);
    const second = await dial(body.url!.replace(new URL(a.url).host, new URL(b.url).host));
    expect(await first.closed).toBe(4409);
    const newer = await postTo(a.url).post("/cloud/environment/env-1/register", registerBody());
    expect(await second.closed).toBe(4409);
    await expect(dial(body.url!)).rejects.toThrow("409 registration_unknown");
    await dial(newer.body.url!);
    // Nothing connected there, and nobody ever registered: both are answered, none by 404.
    const asked = await postTo(b.url).post("/cloud/environment/env-2/connect", { harness_public_key: makeKey() });
    expect([asked.status, asked.body.error?.code]).toEqual([503, "executor_away"]);
  });

  it("go on without NATS, and meet again when it is back with nothing in it", async () => {
    const servers = [await startNats()];
    // Its address stays while NATS comes back on another port: the former one may be taken by then.
    const { url } = await startBalancer(servers);
    const natsUrl = url.replace("http:", "nats:");
    const [a, b] = [await startNode(natsUrl), await startNode(natsUrl)];
    const { body } = await postTo(a.url).post("/cloud/environment/env-1/register", registerBody());
    await dial(body.url!);
    const gone = once(servers[0]!.child, "exit");
    servers[0]!.child.kill("SIGKILL");
    await gone;
    // The node that holds the executor needs nobody.
    await dial((await connect(postTo(a.url) as never)).url);
    servers[0] = await startNats();
    const ask = () => postTo(b.url).post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() });
    let asked = await ask();
    while (asked.status !== 200) {
      // The node answers at once while it is without NATS, and after its own wait while it has none of the registrations.
      expect(asked.status).toBe(503);
      await new Promise((resolve) => setImmediate(resolve));
      asked = await ask();
    }
  });

  it(`${EXECUTORS} executors and ${HARNESSES} harnesses outlive the death of one of three nodes: nothing is lost or repeated`, {
    timeout: 300_000,
  }, async () => {
    const nats = await startNats();
    const nodes = [await startNode(nats.url), await startNode(nats.url), await startNode(nats.url)];
    const balancer = await startBalancer(nodes);
    const start = (role: EndsOptions["role"], total: number) =>
      Promise.all(
        Array.from({ length: Math.ceil(total / ENDS_PER_PROCESS) }, (_, at) => {
          const from = at * ENDS_PER_PROCESS;
          const to = Math.min(total, from + ENDS_PER_PROCESS);
          return startEnds({
            role,
            url: balancer.url,
            from,
            to,
            executors: EXECUTORS,
            intervalMs: INTERVAL_MS,
            exchangesAfter: EXCHANGES_AFTER,
          });
        }),
      );
    const executors = await start("executors", EXECUTORS);
    const harnesses = await start("harnesses", HARNESSES);
    const before = balancer.accepted;
    const killedAt = Date.now();
    nodes[1]!.kill();
    await once(nodes[1]!.child, "exit");
    // Each ends after further exchanges, so that all of them are back; what was lost or repeated would have ended its process.
    const reports = await Promise.all(harnesses.map(({ finish }) => finish()));
    const back = reports.flatMap((report) => report.back ?? []).map((at) => at - killedAt);
    const connected = await Promise.all(executors.map(({ finish }) => finish()));
    if (isLarge) report(back, balancer.accepted - before);
    expect(back.length).toBeGreaterThan(0);
    expect(connected.reduce((sum, report) => sum + (report.connected ?? 0), 0)).toBe(EXECUTORS);
  });
});

/** Prints how long those were cut off that had their stream at the node which died. */
function report(back: number[], dials: number): void {
  back.sort((x, y) => x - y);
  const at = (share: number) => `${Math.round(back[Math.floor((back.length - 1) * share)] ?? 0)} ms`;
  console.info(
    `${back.length} of ${HARNESSES} harnesses were cut off: median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}; ${dials} dials`,
  );
}
