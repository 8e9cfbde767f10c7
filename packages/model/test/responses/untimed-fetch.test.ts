import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createUntimedFetch } from "../../src/responses/untimed-fetch.js";

it("is the usual one where that is patient enough", () => {
  expect(createUntimedFetch(299_999, fetch)).toBe(fetch);
});

it("sends its requests without Node's own limits of silence", async () => {
  const server = createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const sent: { dispatcher?: object }[] = [];
  const recording: typeof fetch = (input, init) => {
    sent.push((init ?? {}) as object); // Node's own member is in no type
    return fetch(input, init);
  };
  const patient = createUntimedFetch(600_000, recording);
  const response = await patient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: "POST" });
  expect(await response.text()).toBe("ok");
  expect(sent.at(-1)?.dispatcher?.constructor.name).toBe("Agent");
});
