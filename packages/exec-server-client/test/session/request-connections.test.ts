import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Channel, createMemoryChannelPair } from "@codex/channel";
import { expect, it, onTestFinished } from "vitest";
import { startOwnServer } from "../../../exec-server/test/backend/own-server.js";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { MAX_IDLE_REQUEST_CONNECTIONS, MAX_REQUEST_CONNECTIONS } from "../../src/limits.js";

/** A client whose server has no extensions, such as Codex 0.169.0, and how many connections were opened and are open. */
async function connectPlain({ canOpenSeveral = true } = {}) {
  const { server, close } = await startOwnServer();
  const counts = { opened: 0, open: 0 };
  const client = await ExecServerClient.connect({
    canReopen: true,
    canOpenSeveral,
    async open() {
      const [ours, theirs] = createMemoryChannelPair();
      counts.opened += 1;
      counts.open += 1;
      void ours.closed.then(() => {
        counts.open -= 1;
      });
      void server.serve(theirs, { transport: { kind: "websocket", peer: "memory" } });
      return withoutExtensions(ours);
    },
  });
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  return { client, counts };
}

/** The client asks for none. */
const withoutExtensions = (channel: Channel): Channel =>
  new Proxy(channel, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      if (key !== "send") return member.bind(target);
      return (value: object) =>
        target.send(
          "method" in value && value.method === "initialize" ? { ...value, params: { clientName: "plain" } } : value,
        );
    },
  });

/** A web server that answers `/` alone. */
async function serveWeb() {
  const begun: string[] = [];
  const web = createServer((request, response) => {
    begun.push(request.url ?? "");
    if (request.url === "/") response.end("hello");
  });
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  onTestFinished(async () => {
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
  });
  return { url: `http://127.0.0.1:${(web.address() as AddressInfo).port}`, begun };
}

it("a request without a signal shares the connection; those with one use another, again and again", async () => {
  const { client, counts } = await connectPlain();
  const { url } = await serveWeb();
  await client.http.request({ url: `${url}/` });
  expect(counts).toEqual({ opened: 1, open: 1 });
  const { signal } = new AbortController();
  for (let count = 0; count < 5; count += 1) {
    const { body } = await client.http.stream({ url: `${url}/`, signal });
    for await (const piece of body) expect(piece.toString()).toBe("hello");
    await client.http.request({ url: `${url}/`, signal });
    await expect(client.http.request({ url: "ftp://x", signal })).rejects.toMatchObject({ code: -32602 });
  }
  expect(counts).toEqual({ opened: 2, open: 2 });
});

it("an abort closes the connection of the request alone", async () => {
  const { client, counts } = await connectPlain();
  const { url, begun } = await serveWeb();
  const session = client.sessionId;
  const abort = new AbortController();
  const request = client.http.request({ url: `${url}/silent`, signal: abort.signal });
  await expect.poll(() => begun).toEqual(["/silent"]);
  expect(counts.open).toBe(2);
  abort.abort("enough");
  await expect(request).rejects.toBe("enough");
  await expect.poll(() => counts.open).toBe(1);
  expect((await client.http.request({ url: `${url}/` })).status).toBe(200);
  expect(client.sessionId).toBe(session);
});

it("beyond the bound they share the connection; few are kept, and none when the client is closed", async () => {
  const { client, counts } = await connectPlain();
  const { url, begun } = await serveWeb();
  const { signal } = new AbortController();
  const abort = new AbortController();
  const silent = Array.from({ length: MAX_REQUEST_CONNECTIONS + 6 }, () =>
    client.http.request({ url: `${url}/silent`, signal: abort.signal }),
  );
  const settled = Promise.allSettled(silent);
  await expect.poll(() => begun).toHaveLength(silent.length);
  expect(counts.open).toBe(1 + MAX_REQUEST_CONNECTIONS);
  abort.abort();
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  await expect.poll(() => counts.open).toBe(1);
  await Promise.all(Array.from({ length: 20 }, () => client.http.request({ url: `${url}/`, signal })));
  await expect.poll(() => counts.open).toBe(1 + MAX_IDLE_REQUEST_CONNECTIONS);
  await client.close();
  await expect.poll(() => counts.open).toBe(0);
  await expect(client.http.request({ url: `${url}/`, signal })).rejects.toMatchObject({ code: "closed" });
});

it("where there is one connection, an abort ends the wait alone", async () => {
  const { client, counts } = await connectPlain({ canOpenSeveral: false });
  const { url, begun } = await serveWeb();
  const abort = new AbortController();
  const request = client.http.stream({ url: `${url}/silent`, signal: abort.signal });
  await expect.poll(() => begun).toEqual(["/silent"]);
  abort.abort("enough");
  await expect(request).rejects.toBe("enough");
  expect((await client.http.request({ url: `${url}/` })).status).toBe(200);
  expect(counts).toEqual({ opened: 1, open: 1 });
});

it("an abort ends the wait for a connection that is being restored", async () => {
  const { server, close } = await startOwnServer();
  const channels: Channel[] = [];
  let isDown = false;
  const client = await ExecServerClient.connect({
    canReopen: true,
    async open() {
      if (isDown) throw new Error("down");
      const [ours, theirs] = createMemoryChannelPair();
      channels.push(ours);
      void server.serve(theirs, { transport: { kind: "websocket", peer: "memory" } });
      return ours;
    },
  });
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  isDown = true;
  await channels[0]?.close({ abrupt: true });
  // A request before that would be sent on the connection that has just ended, and be lost with it.
  await expect.poll(() => client.sessionId).toBeUndefined();
  const abort = new AbortController();
  const request = client.http.request({ url: "http://127.0.0.1:1/", signal: abort.signal });
  abort.abort("enough");
  await expect(request).rejects.toBe("enough");
});
