import { describe, expect, it } from "vitest";
import type { Answer, Ask, Question } from "../src/index.js";
import { echo, startProxy, startTcp } from "./support.js";

/** Questions that were asked, each with the function that answers it. */
function collect() {
  const asked: { question: Question; signal: AbortSignal; answer: (answer: Answer) => void; fail: () => void }[] = [];
  const ask: Ask = (question, signal) =>
    new Promise((answer, reject) => asked.push({ question, signal, answer, fail: () => reject(new Error("broken")) }));
  return { asked, ask };
}

const ALLOW = { decision: "allow", remember: "connection" } as const;

async function start() {
  const { asked, ask } = collect();
  const port = await startTcp(echo);
  const proxy = await startProxy({ domains: { "evil.example": "deny" }, ask });
  const tunnel = async (name: string) => {
    return (await proxy.connect()).send(`CONNECT ${name}:${port} HTTP/1.1\r\n\r\n`);
  };
  return { ...proxy, asked, port, tunnel };
}

it("connections to one place wait for one question, which tells the target", async () => {
  const { asked, tunnel, port, events } = await start();
  const clients = await Promise.all([1, 2, 3].map(() => tunnel("other.example")));
  // Answered after the three have come.
  expect(await (await tunnel("evil.example")).receiveAll()).toContain("403");
  expect(asked).toHaveLength(1);
  const { host, port: asking } = asked[0]!.question.target;
  expect([host.text, asking]).toEqual(["other.example", port]);
  asked[0]!.answer(ALLOW);
  const answers = await Promise.all(clients.map((client) => client.receive("\r\n\r\n")));
  expect(answers.map((each) => each.slice(9, 12))).toEqual(["200", "200", "200"]);
  expect(events).toContainEqual(expect.objectContaining({ decision: "allow", source: "asked", host: "other.example" }));
});

it.each([
  ["connection", 2],
  ["client", 1],
  ["proxy", 1],
] as const)("an answer for the %s makes %i questions of two connections", async (remember, count) => {
  const { asked, tunnel } = await start();
  for (let index = 0; index < 2; index++) {
    const client = await tunnel("other.example");
    await expect.poll(() => asked.length >= Math.min(index + 1, count)).toBe(true);
    asked[index]?.answer({ decision: "allow", remember });
    expect(await client.receive("\r\n\r\n")).toContain("200");
  }
  expect(asked).toHaveLength(count);
});

describe("what an answer could not open is not asked about", () => {
  it.each(["evil.example", "priv.example", "localhost", "10.1.2.3", "nx.example"])("%s", async (name) => {
    const { asked, tunnel } = await start();
    expect(await (await tunnel(name)).receiveAll()).toMatch(/^HTTP\/1\.1 (403|502) /);
    expect(asked).toEqual([]);
  });
});

it("an error, and an answer that is none, deny", async () => {
  const { asked, tunnel } = await start();
  const first = await tunnel("other.example");
  await expect.poll(() => asked).toHaveLength(1);
  asked[0]!.fail();
  expect(await first.receiveAll()).toContain("403");
  const second = await tunnel("other.example");
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]!.answer("yes" as never);
  expect(await second.receiveAll()).toContain("403");
});

it("a question is withdrawn when nobody waits any more, and its answer then counts for nothing", async () => {
  const { asked, tunnel } = await start();
  const client = await tunnel("other.example");
  await expect.poll(() => asked).toHaveLength(1);
  client.socket.destroy();
  await expect.poll(() => asked[0]!.signal.aborted).toBe(true);
  asked[0]!.answer({ decision: "allow", remember: "proxy" });
  const next = await tunnel("other.example");
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]!.answer({ decision: "deny", remember: "connection" });
  expect(await next.receiveAll()).toContain("403");
});

it("equal refusals within a second are one event, and then a count", async () => {
  const { tunnel, events, proxy } = await start();
  for (let index = 0; index < 5; index++) await (await tunnel("evil.example")).receiveAll();
  expect(events).toMatchObject([{ reason: "denied", count: 1, rule: { pattern: "evil.example" } }]);
  proxy.close();
  expect(events).toMatchObject([{ count: 1 }, { reason: "denied", count: 4 }]);
});
