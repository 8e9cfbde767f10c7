import { expect, it } from "vitest";
import { echo, textOf, useHttp } from "./support.js";

const servers = useHttp();
const BODY = {
  bodyBase64: "aGVsbG8=",
  headers: [
    { name: "content-type", value: "text/x" },
    { name: "x-kept", value: "k" },
  ],
};

/** `/301` and the like lead to `/echo`; `/n/3` leads to `/n/2`, and so on to `/echo`. */
async function serveRedirects(): Promise<string> {
  return servers.serve((request, response) => {
    const [, first = "", count = "0"] = (request.url ?? "").split("/");
    if (first === "n") response.writeHead(302, { location: count === "0" ? "/echo" : `/n/${Number(count) - 1}` }).end();
    else if (first === "bad") response.writeHead(302, { location: "http://[" }).end("bad");
    else if (first === "ftp") response.writeHead(302, { location: "ftp://x/" }).end();
    else if (first === "none") response.writeHead(302).end("none");
    else if (/^3\d\d$/.test(first)) response.writeHead(Number(first), { location: "../echo" }).end("moved");
    else echo(request, response);
  });
}

it.each([
  ["POST", 301, "GET", ""],
  ["POST", 302, "GET", ""],
  ["POST", 303, "GET", ""],
  ["PUT", 302, "PUT", "hello"],
  ["PUT", 303, "GET", ""],
  ["POST", 307, "POST", "hello"],
  ["POST", 308, "POST", "hello"],
])("%s after %i becomes %s", async (method, status, then, body) => {
  const url = await serveRedirects();
  const answer = await servers.connect().call({ url: `${url}/${status}`, method, ...BODY });
  const seen = JSON.parse(textOf(answer));
  expect(seen).toMatchObject({ method: then, url: "/echo", body });
  expect(seen.rawHeaders.includes("content-type")).toBe(body !== "");
  expect(seen.rawHeaders).toContain("x-kept");
});

it("stays where it is when told to, and where a redirect leads nowhere", async () => {
  const url = await serveRedirects();
  const { call } = servers.connect();
  const stopped = await call({ url: `${url}/302`, redirectPolicy: "stop" });
  expect(stopped.status).toBe(302);
  expect(stopped.headers).toContainEqual({ name: "location", value: "../echo" });
  expect(textOf(stopped)).toBe("moved");
  expect(textOf(await call({ url: `${url}/bad` }))).toBe("bad");
  expect(textOf(await call({ url: `${url}/none` }))).toBe("none");
  expect(await call({ url: `${url}/304` })).toMatchObject({ status: 304 });
});

it("follows ten and not eleven", async () => {
  const url = await serveRedirects();
  const { call } = servers.connect();
  expect(await call({ url: `${url}/n/9` })).toMatchObject({ status: 200 });
  expect(await call({ url: `${url}/n/10` })).toEqual({
    code: -32603,
    message: "http/request failed: too many redirects",
  });
  const scheme = "http/request failed: redirect target uses unsupported URL scheme: ftp";
  expect(await call({ url: `${url}/ftp` })).toEqual({ code: -32603, message: scheme });
});

it("gives another origin no credentials, and nothing of the environment", async () => {
  const target = await serveRedirects();
  const source = await servers.serve((_, response) => response.writeHead(302, { location: `${target}/echo` }).end());
  const headers = [
    { name: "Authorization", value: "a" },
    { name: "Cookie", value: "c=1" },
    { name: "Host", value: "virtual" },
    { name: "X-Key", value: "", valueEnvVar: "KEY" },
    { name: "X-Plain", value: "p" },
  ];
  const { call } = servers.connect({ env: { KEY: "secret" } });
  const { rawHeaders } = JSON.parse(textOf(await call({ url: source, headers })));
  expect(rawHeaders).toEqual(expect.arrayContaining(["X-Plain", "p", "host", target.slice("http://".length)]));
  for (const gone of ["Authorization", "Cookie", "X-Key", "secret", "virtual"]) expect(rawHeaders).not.toContain(gone);
  const same = JSON.parse(textOf(await call({ url: `${target}/302`, headers })));
  expect(same.rawHeaders).toEqual(expect.arrayContaining(["Authorization", "Cookie", "X-Key", "secret"]));
});

it("counts all hops into one time limit", async () => {
  const silent = await servers.serve(() => {});
  const source = await servers.serve((_, response) => response.writeHead(302, { location: silent }).end());
  const answer = await servers.connect().call({ url: source, timeoutMs: 500 });
  expect(answer.message).toBe(
    `http/request failed: error sending request for url (${silent}/): timed out after 500 ms`,
  );
});
