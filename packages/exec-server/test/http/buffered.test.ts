import { gzipSync } from "node:zlib";
import { NEVER_PASSED } from "@codex/exec-backend";
import { expect, it } from "vitest";
import { UNBUDGETED_BYTES } from "../../src/limits.js";
import { type Answer, echo, textOf, useHttp } from "./support.js";

const servers = useHttp();

/** What `echo` saw; headers in pairs. */
function seenBy(answer: Answer): { method: string; url: string; rawHeaders: string[]; body: string } {
  expect(answer.message).toBeUndefined();
  return JSON.parse(textOf(answer));
}

it("keeps order and repetitions of headers both ways, and tells the body", async () => {
  const url = await servers.serve((request, response) => {
    response.setHeader("X-Multi", ["a", "b"]);
    response.setHeader("X-Other", "o");
    echo(request, response);
  });
  const headers = [
    { name: "X-One", value: "1" },
    { name: "x-two", value: "2", valueEnvVar: null },
    { name: "X-One", value: "3" },
  ];
  const answer = await servers.connect().call({ url: `${url}/p?q=1#f`, headers });
  expect(answer.status).toBe(200);
  expect(answer.headers?.slice(0, 3)).toEqual([
    { name: "x-multi", value: "a" },
    { name: "x-multi", value: "b" },
    { name: "x-other", value: "o" },
  ]);
  expect(answer.headers).toContainEqual({ name: "connection", value: "keep-alive" });
  const seen = seenBy(answer);
  expect(seen).toMatchObject({ method: "GET", url: "/p?q=1", body: "" });
  const host = url.slice("http://".length);
  expect(seen.rawHeaders.slice(0, 10)).toEqual([
    ...["X-One", "1", "X-One", "3", "x-two", "2"],
    ...["accept", "*/*", "host", host],
  ]);
});

it.each(["GET", "POST", "PROPFIND", "DELETE"])("%s carries a body and its length", async (method) => {
  const url = await servers.serve(echo);
  const seen = seenBy(await servers.connect().call({ url, method, bodyBase64: "aGVsbG8=" }));
  expect(seen).toMatchObject({ method, body: "hello" });
  expect(seen.rawHeaders.join(" ").toLowerCase()).toContain("content-length 5");
  const chunked = { name: "transfer-encoding", value: "chunked" };
  const other = seenBy(await servers.connect().call({ url, method, bodyBase64: "aGVsbG8=", headers: [chunked] }));
  expect(other).toMatchObject({ method, body: "hello" });
});

it("passes methods through as they are", async () => {
  let line = "";
  const url = await servers.serveRaw((socket) => {
    socket.once("data", (bytes) => {
      line = bytes.toString().split("\r\n", 1)[0]!;
      socket.end("HTTP/1.1 204 No Content\r\n\r\n");
    });
  });
  expect(await servers.connect().call({ url: `${url}/x`, method: "get" })).toMatchObject({
    status: 204,
    bodyBase64: "",
  });
  expect(line).toBe("get /x HTTP/1.1");
});

it("does not unpack, and knows answers without a body", async () => {
  const url = await servers.serve((request, response) => {
    if (request.url === "/204") response.writeHead(204).end();
    else response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("text"));
  });
  const { call } = servers.connect();
  expect((await call({ url })).bodyBase64).toBe(gzipSync("text").toString("base64"));
  expect(await call({ url, method: "HEAD" })).toMatchObject({ status: 200, bodyBase64: "" });
  expect(await call({ url: `${url}/204` })).toMatchObject({ status: 204, bodyBase64: "" });
});

it("reads header values as UTF-8, or byte by byte where they are not", async () => {
  const url = await servers.serveRaw((socket) => {
    const head = "HTTP/1.1 200 OK\r\nX-U: caf\xc3\xa9\r\nX-L: caf\xe9\r\nX-u: more\r\nContent-Length: 2\r\n\r\nhi";
    socket.once("data", () => socket.end(Buffer.from(head, "latin1")));
  });
  expect((await servers.connect().call({ url })).headers).toEqual([
    { name: "x-u", value: "café" },
    { name: "x-l", value: "caf\xe9" },
    { name: "x-u", value: "more" },
    { name: "content-length", value: "2" },
  ]);
});

it("sends header values in UTF-8, and those of the environment", async () => {
  const url = await servers.serve(echo);
  const { call } = servers.connect({ env: { TOKEN: "secret", EMPTY: "", BROKEN: "a\nb" } });
  const header = { name: "authorization", value: "Bearer ", valueEnvVar: "TOKEN" };
  const seen = seenBy(await call({ url, headers: [header, { name: "x", value: "é" }] }));
  expect(seen.rawHeaders.slice(0, 4)).toEqual(["authorization", "Bearer secret", "x", "Ã©"]);
  const problemOf = async (valueEnvVar: string) => call({ url, headers: [{ name: "x", value: "", valueEnvVar }] });
  const problem = "http/request header x requires executor environment variable NOPE";
  expect(await problemOf("NOPE")).toEqual({ code: -32602, message: problem });
  expect(await problemOf("EMPTY")).toMatchObject({ code: -32602, message: expect.stringContaining("non-empty") });
  const broken = await problemOf("BROKEN");
  expect(broken).toMatchObject({ code: -32602, message: expect.stringContaining("header value is invalid for x") });
});

it.each(NEVER_PASSED)("sends %s, which is the server's alone, to nobody", async (name) => {
  const url = await servers.serve(echo);
  const { call } = servers.connect({ env: { [name]: "secret" } });
  const problem = `http/request header x requires executor environment variable ${name}`;
  const headers = [{ name: "x", value: "", valueEnvVar: name }];
  expect(await call({ url, headers })).toEqual({ code: -32602, message: problem });
});

it("makes credentials of the URL a header, and a header of the caller wins", async () => {
  const url = (await servers.serve(echo)).replace("//", "//us%40er:p%C3%A4ss@");
  const { call } = servers.connect();
  const expected = `Basic ${Buffer.from("us@er:päss").toString("base64")}`;
  expect(seenBy(await call({ url })).rawHeaders.slice(0, 2)).toEqual(["authorization", expected]);
  const seen = seenBy(
    await call({
      url,
      headers: [
        { name: "Authorization", value: "own" },
        { name: "Host", value: "v" },
      ],
    }),
  );
  expect(seen.rawHeaders.slice(0, 4)).toEqual(["Authorization", "own", "Host", "v"]);
});

it.each([
  [{ url: "nope" }, "http/request url is invalid: relative URL without a base"],
  [{ url: "http://" }, "http/request url is invalid: no valid host or port"],
  [{ url: "http://exa mple/" }, "http/request url is invalid: no valid host or port"],
  [{ url: "ftp://x/" }, "http/request only supports http and https URLs, got ftp"],
  [{ method: "B AD" }, "http/request method is invalid: invalid HTTP method"],
  [{ method: "" }, "http/request method is invalid: invalid HTTP method"],
  [{ method: "CONNECT" }, "http/request method is invalid: CONNECT opens a tunnel, which has no response"],
  [{ headers: [{ name: "b ad", value: "x" }] }, "http/request header name is invalid: invalid HTTP header name"],
  [{ headers: [{ name: "", value: "x" }] }, "http/request header name is invalid: invalid HTTP header name"],
  [
    { headers: [{ name: "x", value: "a\nb" }] },
    "http/request header value is invalid for x: it has control characters",
  ],
  [
    { bodyBase64: "aGVsbG8=", headers: [{ name: "Content-Length", value: "3" }] },
    "http/request header value is invalid for content-length: 3, but the body has 5 bytes",
  ],
  [
    { headers: [{ name: "transfer-encoding", value: "gzip" }] },
    "http/request header value is invalid for transfer-encoding: gzip; only chunked is supported",
  ],
  [
    {
      headers: [
        { name: "host", value: "a" },
        { name: "Host", value: "b" },
      ],
    },
    "http/request header host is given more than once",
  ],
  [{ redirectPolicy: "x" }, "unknown variant `x`, expected `follow` or `stop` (in `redirectPolicy`)"],
  [{ bodyBase64: "*" }, "Invalid symbol 42, offset 0. (in `bodyBase64`)"],
])("refuses %j", async (params, message) => {
  expect(await servers.connect().call({ url: "http://127.0.0.1:1/", ...params })).toEqual({ code: -32602, message });
});

it("tells failures apart", async () => {
  const { call } = servers.connect();
  const failed = "http/request failed: error sending request for url";
  const refused = await call({ url: "http://user:pass@127.0.0.1:1/p?token=x#f" });
  expect(refused).toEqual({
    code: -32603,
    message: `${failed} (http://127.0.0.1:1/p): connect ECONNREFUSED 127.0.0.1:1`,
  });
  const unknown = await call({ url: "http://nope.invalid/" });
  expect(unknown).toMatchObject({ code: -32603, message: expect.stringMatching(/nope\.invalid\/\): getaddrinfo E/) });
  const garbage = await servers.serveRaw((socket) => socket.once("data", () => socket.end("garbage\r\n\r\n")));
  expect(await call({ url: garbage })).toMatchObject({ code: -32603, message: expect.stringContaining("HPE_") });
  expect(await call({ url: garbage.replace("http", "https") })).toMatchObject({ code: -32603 });
  const closing = await servers.serveRaw((socket) => socket.once("data", () => socket.destroy()));
  const switching = await servers.serveRaw((socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    );
  });
  expect(await call({ url: switching })).toMatchObject({
    code: -32603,
    message: expect.stringContaining("without a response"),
  });
  expect(await call({ url: closing })).toMatchObject({
    code: -32603,
    message: expect.stringContaining("socket hang up"),
  });
});

it("ends at its time limit, before or within the body, and says so", async () => {
  const silent = await servers.serve(() => {});
  const half = await servers.serve((_, response) => response.writeHead(200).write("half"));
  const { call } = servers.connect();
  const waiting = await call({ url: silent, timeoutMs: 20 });
  expect(waiting).toMatchObject({
    code: -32603,
    message: expect.stringMatching(/sending request.*timed out after 20 ms$/),
  });
  const reading = await call({ url: half, timeoutMs: 500 });
  const problem = "failed to read http/request response body: timed out after 500 ms";
  expect(reading).toEqual({ code: -32603, message: problem });
  expect(await call({ url: silent, timeoutMs: 0 })).toMatchObject({
    message: expect.stringContaining("timed out after 0 ms"),
  });
  expect(await call({ url: await servers.serve(echo), timeoutMs: 2 ** 40 })).toMatchObject({ status: 200 });
});

it("tells a body that is cut off, and one that is too large", async () => {
  const cut = await servers.serveRaw((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"));
  });
  const { call } = servers.connect();
  const problem = /^failed to read http\/request response body: /;
  expect(await call({ url: cut })).toMatchObject({ code: -32603, message: expect.stringMatching(problem) });
  const large = await servers.serve((_, response) => response.end(Buffer.alloc(100_001)));
  const limited = servers.connect({ limits: { maxBufferedBodyBytes: 100_000 } });
  const message =
    "failed to read http/request response body: it is larger than the limit of 100000 bytes; use streamResponse";
  expect(await limited.call({ url: large })).toEqual({ code: -32603, message });
  const fitting = servers.connect({ limits: { maxBufferedBodyBytes: 100_001 } });
  expect(textOf(await fitting.call({ url: large }))).toHaveLength(100_001);
});

it("a body that needs memory is refused when there is none", async () => {
  const { http } = servers.connect();
  const get = (url: string, asked: number[]) => {
    const reserve = async (bytes: number) => {
      asked.push(bytes);
      throw new Error("no memory");
    };
    const nothing = { headers: [], bodyBase64: undefined, timeoutMs: undefined };
    const params = {
      requestId: "r",
      method: "GET",
      url,
      streamResponse: false,
      redirectPolicy: "stop",
      ...nothing,
    } as const;
    return http.request(params, { reserve });
  };
  const small = await servers.serve((_, response) => response.end(Buffer.alloc(UNBUDGETED_BYTES)));
  const large = await servers.serve((_, response) => response.end(Buffer.alloc(UNBUDGETED_BYTES + 1)));
  const asked: number[] = [];
  expect((await get(small, asked)).body).toHaveLength(UNBUDGETED_BYTES);
  await expect(get(large, asked)).rejects.toThrow("no memory");
  expect(asked).toEqual([UNBUDGETED_BYTES + 1]);
});
