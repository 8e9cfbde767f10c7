// Clients that take their time.

import { FakeClock } from "@codex/clock/testing";
import { expect, it } from "vitest";
import { open, startProxy, startWeb } from "./support.js";

const LONG_MS = 60_000;

it.each([
  ["nothing", ""],
  ["half a head", "GET / HTTP/1.1\r\nHost:"],
  ["half a greeting of SOCKS5", "\x05"],
  ["half a request of SOCKS5", "\x05\x01\x00\x05\x01"],
])("a client that sends %s and no more is disconnected", async (_, bytes) => {
  const clock = new FakeClock();
  const { port, proxy } = await startProxy({ domains: {}, clock });
  const client = (await open(port)).send(bytes);
  await expect.poll(() => clock.pending).toBe(1);
  // All that was sent has arrived.
  await (await open(port)).send("\x04").end().receiveAll();
  clock.advance(LONG_MS);
  await client.receiveAll();
  expect(client.received.length).toBeLessThanOrEqual(2);
  proxy.close();
});

it("a client whose second head is slow is disconnected, and none while an answer is on its way", async () => {
  const clock = new FakeClock();
  let answer = (): void => undefined;
  const web = await startWeb((request, response) => {
    answer = () => response.end(`answer to ${request.url}`);
  });
  const { connect } = await startProxy({ domains: { "pub.example": "allow" }, clock });
  const request = (path: string) => `GET http://pub.example:${web}/${path} HTTP/1.1\r\n\r\n`;
  const client = (await connect()).send(request("a"));
  await expect.poll(() => answer.toString()).toContain("answer");
  clock.advance(LONG_MS);
  answer();
  await client.receive("answer to /a");
  await expect.poll(() => clock.pending).toBeGreaterThan(0);
  client.send("GET ");
  clock.advance(LONG_MS);
  expect(await client.receiveAll()).not.toContain("408");
});
