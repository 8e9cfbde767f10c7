import { FakeClock } from "@codex/clock/testing";
import { parseAddress, renderAddress } from "@codex/network-policy";
import { expect, it } from "vitest";
import { findInHosts, lookupOnHost, Resolver } from "../src/resolver.js";
import { startProxy, startTcp } from "./support.js";

it("the file of this host's own names is looked at first", async () => {
  const text = "# 10.0.0.9 a.example\n10.0.0.1\tA.example b.example # c.example\n\nx d.example\n::1 a.example\n";
  const find = (name: string) => findInHosts(text, name).map(renderAddress);
  expect([find("a.example"), find("b.example"), find("c.example"), find("d.example")]).toEqual([
    ["10.0.0.1", "::1"],
    ["10.0.0.1"],
    [],
    [],
  ]);
  expect((await lookupOnHost("localhost")).map(renderAddress)).toContain("127.0.0.1");
});

it("a name whose address changes is connected to at the address that was checked", async () => {
  const answers = [["127.0.1.1"], ["10.1.2.3"]];
  const port = await startTcp((socket) => socket.end("checked"));
  const { connect } = await startProxy({
    domains: { "rebind.example": "allow" },
    lookup: async () => (answers.shift() ?? []).map((text) => parseAddress(text)!),
  });
  for (let again = 0; again < 3; again += 1) {
    const answer = await (await connect()).send(`CONNECT rebind.example:${port} HTTP/1.1\r\n\r\n`).receiveAll();
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*checked$/s);
  }
  // It was resolved once for all three.
  expect(answers).toEqual([["10.1.2.3"]]);
});

it("parallel connections share one lookup, which ends in time, and is done again later", async () => {
  const clock = new FakeClock();
  let lookups = 0;
  const resolver = new Resolver(() => {
    lookups += 1;
    return lookups === 1 ? new Promise(() => undefined) : Promise.resolve([parseAddress("127.0.1.1")!]);
  }, clock);
  const waiting = [resolver.resolve("a.example"), resolver.resolve("a.example")];
  clock.advance(60_000);
  expect(await Promise.all(waiting)).toEqual([[], []]);
  expect(lookups).toBe(1);
  expect(await resolver.resolve("a.example")).toHaveLength(1);
  clock.advance(60_000);
  await resolver.resolve("a.example");
  expect(lookups).toBe(3);
});
