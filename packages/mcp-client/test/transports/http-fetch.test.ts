import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { createEnvironmentFetch } from "../../src/index.js";
import { listenHttp, listenMcp, openRemote } from "../support.js";

async function openFetch() {
  return createEnvironmentFetch((await openRemote()).environment.http);
}

it("carries the official client over Streamable HTTP: list, call, 3 MB, progress, end of the session", async () => {
  const { url, asked } = await listenMcp();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: await openFetch(),
    requestInit: { headers: { authorization: "Bearer mine" } },
  });
  const client = new Client({ name: "tests", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  const big = await client.callTool({ name: "big", arguments: { bytes: 3_000_000 } });
  expect(big.content).toEqual([{ type: "text", text: "x".repeat(3_000_000) }]);
  const seen: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
  await client.callTool({ name: "steps", arguments: { count: 3 } }, { onprogress });
  expect(seen).toEqual([1, 2, 3]);
  await transport.terminateSession();
  expect(asked.map(({ method }) => method)).toEqual(expect.arrayContaining(["POST", "GET", "DELETE"]));
  expect(asked.every(({ headers }) => headers.includes("Bearer mine"))).toBe(true);
});

it("passes headers in order, a body and its content type", async () => {
  const fetch = await openFetch();
  const { url, asked } = await listenHttp((request, response) => request.pipe(response));
  const headers = { "X-Second": "2", "X-First": "1" };
  const echoed = await fetch(url, { method: "POST", headers, body: new URLSearchParams({ a: "b c" }) });
  expect(await echoed.text()).toBe("a=b+c");
  const names = asked[0]!.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  expect(names.indexOf("x-second")).toBeLessThan(names.indexOf("x-first"));
  expect(asked[0]!.headers).toContain("application/x-www-form-urlencoded;charset=UTF-8");
});

it("does not follow redirects in the modes manual and error", async () => {
  const fetch = await openFetch();
  const { url, asked } = await listenHttp((request, response) => {
    if (request.url === "/there") response.end("there");
    else response.writeHead(307, { location: "/there" }).end("moved");
  });
  const stopped = await fetch(url, { redirect: "manual" });
  expect([stopped.status, stopped.headers.get("location"), await stopped.text()]).toEqual([307, "/there", "moved"]);
  await expect(fetch(url, { redirect: "error" })).rejects.toThrow("redirect");
  expect(asked.map((each) => each.url)).toEqual(["/", "/"]);
  expect(await (await fetch(url)).text()).toBe("there");
});

it.each([204, 205, 304])("has no body for status %i", async (status) => {
  const fetch = await openFetch();
  const { url } = await listenHttp((_, response) => response.writeHead(status).end());
  const answer = await fetch(url);
  expect([answer.status, answer.body]).toEqual([status, null]);
});

it("keeps its session and its call when the connection to the host is lost", async () => {
  const { environment, relay } = await openRemote();
  const { url } = await listenMcp();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: createEnvironmentFetch(environment.http),
  });
  const client = new Client({ name: "tests", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const { sessionId } = transport;
  const echo = async (words: string) => (await client.callTool({ name: "echo", arguments: { words } })).content;
  expect(await echo("before")).toMatchObject([{ text: "before" }]);
  const cut = async () => {
    const lost = new Promise<void>((resolve) => {
      const stop = environment.onStateChange(({ status }) => {
        if (status !== "reconnecting") return;
        stop();
        resolve();
      });
    });
    relay.cut();
    await lost;
  };
  await cut();
  expect(await echo("after")).toMatchObject([{ text: "after" }]);

  const directory = await mkdtemp(join(tmpdir(), "mcp "));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "there");
  // A stream can be resumed from its first event on; a request without an answer would only fail.
  let called: ReturnType<typeof client.callTool> | undefined;
  await new Promise<string>((onresumptiontoken) => {
    called = client.callTool({ name: "wait_for", arguments: { file } }, { onresumptiontoken });
  });
  await cut();
  await writeFile(file, "");
  expect((await called)?.content).toEqual([{ type: "text", text: "it is there" }]);
  expect(await echo("later")).toMatchObject([{ text: "later" }]);
  expect([transport.sessionId, relay.cuts]).toEqual([sessionId, 2]);
});

it("stops waiting on an abort, before the headers and in a body that never ends; the host ends the exchange", async () => {
  const fetch = await openFetch();
  const ended: (string | undefined)[] = [];
  const { url } = await listenHttp((request, response) => {
    response.once("close", () => ended.push(request.url));
    if (request.url === "/stream") response.writeHead(200).write("first");
  });
  const early = new AbortController();
  const pending = fetch(`${url}/never`, { signal: early.signal });
  early.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
  const late = new AbortController();
  const { body } = await fetch(`${url}/stream`, { signal: late.signal });
  const reader = body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("first");
  const next = reader.read();
  late.abort(new Error("enough now"));
  await expect(next).rejects.toThrow("enough now");
  await expect.poll(() => ended).toEqual(expect.arrayContaining(["/stream"]));
  await expect(fetch(url, { signal: late.signal })).rejects.toThrow("enough now");
});

it("rejects with the reason when the server cannot be reached", async () => {
  const fetch = await openFetch();
  await expect(fetch("http://127.0.0.1:9/")).rejects.toThrow(/refused/i);
});
