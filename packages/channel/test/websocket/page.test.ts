import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { createWebSocketListener, type ListenOptions, type WebSocketListener } from "@codex/channel/websocket";
import { afterEach, describe, expect, it } from "vitest";

let listener: WebSocketListener;
afterEach(() => listener.close({ deadlineMs: 100 }));

const pages = new Map([
  ["/page", () => ({ contentType: "text/plain; version=1", body: "ä\n" })],
  [
    "/broken",
    (): never => {
      throw new Error("s3cret");
    },
  ],
]);

const listen = async (options: Partial<ListenOptions> = {}) => {
  listener = await createWebSocketListener({ port: 0, onChannel: () => {}, pages, ...options });
};

async function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
  const asked = request({ host: "127.0.0.1", port: listener.port, path, headers, method, agent: false });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe("a page of a listener", () => {
  it("has its content type, whatever the query", async () => {
    await listen();
    const { status, headers, body } = await ask("/page?x=1");
    expect([status, headers["content-type"], headers["cache-control"], body]).toEqual([
      200,
      "text/plain; version=1",
      "no-store",
      "ä\n",
    ]);
  });

  it.each([
    ["HEAD", 200, ""],
    ["POST", 405, ""],
    ["DELETE", 405, ""],
  ])("of %s is %d", async (method, expected, body) => {
    await listen();
    const answer = await ask("/page", {}, method);
    expect([answer.status, answer.body]).toEqual([expected, body]);
  });

  it.each([
    [{ host: "127.0.0.1:1" }, 200],
    [{ host: "localhost:1" }, 200],
    [{ host: "[::1]:1" }, 200],
    [{ host: "evil.example:1" }, 403],
    [{ host: "127.0.0.1.evil.example" }, 403],
    [{ origin: "https://evil.example" }, 403],
  ])("without a token, requested with %j, is %d", async (headers, expected) => {
    await listen();
    expect((await ask("/page", headers)).status).toBe(expected);
  });

  it.each([
    [{ authorization: "t" }, 200],
    [{ authorization: "t", host: "build-7.example" }, 200],
    [{ authorization: "t", origin: "https://evil.example" }, 403],
    [{}, 401],
    [{ authorization: "wrong" }, 401],
  ])("with a token, requested with %j, is %d", async (headers: Record<string, string>, expected) => {
    await listen({
      authorize: ({ headers: { authorization } }) =>
        authorization === "t" ? { ok: true } : { ok: false, status: 401, message: "no" },
    });
    expect((await ask("/page", headers)).status).toBe(expected);
  });

  it("that cannot be rendered does not disclose the error", async () => {
    await listen();
    expect(await ask("/broken")).toMatchObject({ status: 500, body: "the page could not be rendered" });
  });

  it("is 404 unless configured", async () => {
    await listen({ pages: new Map() });
    expect((await ask("/page")).status).toBe(404);
  });
});
