import { connect as connectTls } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { echo, open, startProxy, startTcp, startWeb } from "./support.js";

const PUB = { "pub.example": "allow" } as const;

describe("a request that names no target is refused with 400", () => {
  it.each([
    ["CONNECT without a port", "CONNECT pub.example HTTP/1.1\r\n\r\n"],
    ["CONNECT to port 0", "CONNECT pub.example:0 HTTP/1.1\r\n\r\n"],
    ["CONNECT to port 99999", "CONNECT pub.example:99999 HTTP/1.1\r\n\r\n"],
    ["CONNECT to a URL", "CONNECT http://pub.example:443/ HTTP/1.1\r\n\r\n"],
    ["CONNECT to a name with two final dots", "CONNECT pub.example..:443 HTTP/1.1\r\n\r\n"],
    ["CONNECT to a percent-encoded name", "CONNECT evil%2epub.example:443 HTTP/1.1\r\n\r\n"],
    ["origin form without Host", "GET / HTTP/1.1\r\n\r\n"],
    ["two Host headers", "GET http://pub.example/ HTTP/1.1\r\nHost: pub.example\r\nHost: evil.example\r\n\r\n"],
    ["a Host that is not the target", "GET http://pub.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"],
    ["a Host with another port", "GET http://pub.example/ HTTP/1.1\r\nHost: pub.example:81\r\n\r\n"],
    ["https in absolute form", "GET https://pub.example/ HTTP/1.1\r\nHost: pub.example\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["no HTTP", "garbage\r\n\r\n"],
    ["SOCKS4", "\x04\x01\x00P\x00\x00\x00\x01\x00pub.example\x00"],
    [
      "two lengths of a body",
      "POST http://pub.example/ HTTP/1.1\r\nHost: pub.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("%s", async (_, bytes) => {
    const { connect, events } = await startProxy({ domains: PUB });
    const answer = await (await connect()).send(bytes).receiveAll();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(events).toMatchObject([{ decision: "deny", reason: "malformed" }]);
  });
});

describe("a request reaches its host", () => {
  it.each([
    ["absolute form", (at: string) => `GET http://${at}/p?q HTTP/1.1\r\nHost: ${at}\r\n\r\n`, "GET /p?q at"],
    ["absolute form without Host", (at: string) => `GET http://${at} HTTP/1.1\r\n\r\n`, "GET / at"],
    ["HTTP/1.0", (at: string) => `GET http://${at}/ HTTP/1.0\r\n\r\n`, "GET / at"],
    [
      "another spelling of Host",
      (at: string) => `GET http://PUB${at.slice(3)}/ HTTP/1.1\r\nHost: ${at.replace(":", ".:")}\r\n\r\n`,
      "GET / at",
    ],
    ["origin form", (at: string) => `GET /x HTTP/1.1\r\nHost: ${at}\r\n\r\n`, "GET /x at"],
    ["OPTIONS *", (at: string) => `OPTIONS * HTTP/1.1\r\nHost: ${at}\r\n\r\n`, "OPTIONS * at"],
    [
      "a user name in the target",
      (at: string) => `GET http://evil.example@${at}/ HTTP/1.1\r\nHost: ${at}\r\n\r\n`,
      "GET / at",
    ],
  ])("%s", async (_, request, expected) => {
    const web = await startWeb();
    const { connect, events } = await startProxy({ domains: PUB });
    const answer = await (await connect()).send(request(`pub.example:${web}`)).receive(expected);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(expected);
    expect(events[0]).toMatchObject({ decision: "allow", host: "pub.example", port: web, address: "127.0.1.1" });
  });

  it("with its body, and without what is between a client and its proxy", async () => {
    const web = await startWeb((request, response) => {
      const { host, x, "proxy-authorization": secret, connection, hop } = request.headers;
      const head = JSON.stringify({ host, x, secret, connection, hop });
      response.write(`${head} `);
      request.pipe(response);
    });
    const { connect } = await startProxy({ domains: PUB });
    const at = `pub.example:${web}`;
    const head = `POST http://${at}/ HTTP/1.1\r\nHost: ${at}\r\nX: y\r\nProxy-Authorization: Basic eA==\r\nConnection: hop\r\nHop: z\r\n`;
    const answer = await (await connect()).send(`${head}Content-Length: 5\r\n\r\nhello`).receive("hello");
    expect(answer).toContain(JSON.stringify({ host: at, x: "y", connection: "close" }));
  });

  it("the first address that answers of those that it resolved to", async () => {
    const web = await startWeb();
    const { connect } = await startProxy({ domains: { "two.example": "allow" } });
    const answer = await (await connect()).send(`GET http://two.example:${web}/ HTTP/1.1\r\n\r\n`).receive("GET /");
    expect(answer).toContain("200 OK");
  });
});

it("each request of a connection is decided about by itself", async () => {
  const web = await startWeb();
  const { connect } = await startProxy({ domains: { ...PUB, "evil.example": "deny" } });
  const get = (name: string) => `GET http://${name}:${web}/ HTTP/1.1\r\nHost: ${name}:${web}\r\n\r\n`;
  const client = await connect();
  client.send(get("pub.example") + get("evil.example") + get("other.example") + get("pub.example"));
  await client.receive(`GET / at pub.example:${web}`);
  await expect
    .poll(() => [...client.received.toString().matchAll(/HTTP\/1\.1 (\d+).*?(?:x-proxy-error: (\S+))?\r\n/g)].length)
    .toBe(4);
  const answers = client.received.toString().split(/(?=HTTP\/1\.1 )/);
  expect(answers.map((each) => each.slice(9, 12))).toEqual(["200", "403", "403", "200"]);
  expect(answers[1]).toContain("x-proxy-error: blocked-by-denylist");
  expect(answers[2]).toContain("x-proxy-error: blocked-by-allowlist");
  expect(JSON.parse(answers[2]!.split("\r\n\r\n")[1]!)).toMatchObject({
    status: "blocked",
    host: "other.example",
    port: web,
  });
});

it("an answer is passed on as it comes, event by event", async () => {
  let next: () => void = () => undefined;
  const web = await startWeb((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    next = () => response.end("data: 2\n\n");
  });
  const { connect } = await startProxy({ domains: PUB });
  const client = (await connect()).send(`GET http://pub.example:${web}/ HTTP/1.1\r\n\r\n`);
  expect(await client.receive("data: 1")).not.toContain("data: 2");
  next();
  await client.receive("data: 2");
});

it("an upgrade in absolute form is the host's to answer, and then a tunnel", async () => {
  const web = await startTcp((socket) => {
    socket.once("data", (head) => {
      const isUpgrade = /^GET \/ws HTTP\/1\.1\r\n[\s\S]*connection: upgrade\r\nupgrade: websocket\r\n/i.test(
        head.toString(),
      );
      socket.write(
        isUpgrade ? "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" : "no",
      );
      echo(socket);
    });
  });
  const { connect } = await startProxy({ domains: PUB });
  const client = await connect();
  client.send(`GET http://pub.example:${web}/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  expect(await client.receive("\r\n\r\n")).toMatch(/^HTTP\/1\.1 101 /);
  expect(await client.send("frame").receive("frame")).toContain("frame");
});

describe("CONNECT", () => {
  it("answers 200 once the host is connected, and passes both directions", async () => {
    const port = await startTcp(echo);
    const { connect, events } = await startProxy({ domains: PUB });
    const client = (await connect()).send(`CONNECT pub.example:${port} HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello`);
    expect(await client.receive("hello")).toMatch(/^HTTP\/1\.1 200 [^\r]*\r\n\r\nhello$/);
    client.end();
    await client.receiveAll();
    await expect
      .poll(() => events)
      .toMatchObject([
        { kind: "decision", decision: "allow", protocol: "connect", client: "127.0.0.1" },
        { kind: "end", host: "pub.example", port, sent: 5, received: 5 },
      ]);
  });

  it.each([
    ["a host that refuses connections", "pub.example:1", "502", "unreachable"],
    ["a name without an address", "nx.pub.example:443", "502", "unresolvable"],
    ["a host that no rule allows", "evil.example:443", "403", "blocked-by-allowlist"],
    ["a private address behind an allowed name", "priv.example:443", "403", "blocked-by-allowlist"],
  ])("says why not: %s", async (_, target, status, code) => {
    const { connect } = await startProxy({ domains: { "**.pub.example": "allow", "priv.example": "allow" } });
    const answer = await (await connect()).send(`CONNECT ${target} HTTP/1.1\r\n\r\n`).receiveAll();
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*x-proxy-error: ${code}\r\n`));
  });

  it.each(["client", "host"])("passes what the other end still sends after the %s has ended", async (first) => {
    const port = await startTcp((socket) => {
      if (first === "host") socket.end("bye");
      let received = "";
      socket.on("data", (chunk) => (received += chunk));
      socket.once("end", () => (first === "client" ? socket.end(`got ${received}`) : hold(received)));
    });
    let hold: (received: string) => void = () => undefined;
    const held = new Promise<string>((resolve) => (hold = resolve));
    const { connect } = await startProxy({ domains: PUB });
    const client = (await connect()).send(`CONNECT pub.example:${port} HTTP/1.1\r\n\r\n`);
    await client.receive("\r\n\r\n");
    if (first === "client") {
      expect(await client.send("late").end().receiveAll()).toContain("got late");
    } else {
      await client.receiveAll();
      client.send("after the end").end();
      expect(await held).toBe("after the end");
    }
  });
});

describe("the name of a TLS handshake", () => {
  it.each([
    ["is the target's", "pub.example", true],
    ["is the target's in other letters", "PUB.example", true],
    ["is absent", undefined, true],
    ["is another", "evil.example", false],
  ])("%s", async (_, servername, isPassed) => {
    let settle: (chunk: Buffer) => void = () => undefined;
    const first = new Promise<Buffer>((resolve) => (settle = resolve));
    const port = await startTcp((socket) => {
      socket.once("data", settle);
      socket.once("end", () => settle(Buffer.alloc(0)));
    });
    const { connect, events } = await startProxy({ domains: PUB });
    const client = (await connect()).send(`CONNECT pub.example:${port} HTTP/1.1\r\n\r\n`);
    await client.receive("\r\n\r\n");
    client.socket.removeAllListeners("data");
    const tls = connectTls({ socket: client.socket, ...(servername === undefined ? {} : { servername }) });
    tls.on("error", () => undefined);
    onTestFinished(() => void tls.destroy());
    expect((await first).length > 0).toBe(isPassed);
    const isReported = () => events.some((event) => event.kind === "decision" && event.reason === "sni_mismatch");
    await expect.poll(isReported).toBe(!isPassed);
  });

  it("does not hold up a host that speaks first, or a client that speaks no TLS", async () => {
    const port = await startTcp((socket) => {
      socket.write("SSH-2.0-host\r\n");
      echo(socket);
    });
    const { connect } = await startProxy({ domains: PUB });
    const client = (await connect()).send(`CONNECT pub.example:${port} HTTP/1.1\r\n\r\n`);
    await client.receive("SSH-2.0-host");
    expect(await client.send("S").receive("host\r\nS")).toContain("SSH-2.0-host\r\nS");
  });
});

it("the mode `limited` allows GET, HEAD and OPTIONS of plain HTTP", async () => {
  const web = await startWeb();
  const { connect } = await startProxy({ domains: PUB, mode: "limited" });
  const ask = async (request: string) => {
    const answer = await (await connect()).send(`${request} HTTP/1.1\r\nConnection: close\r\n\r\n`).receiveAll();
    return [answer.slice(9, 12), /x-proxy-error: (\S+)/.exec(answer)?.[1]];
  };
  const at = `pub.example:${web}`;
  expect(await ask(`GET http://${at}/`)).toEqual(["200", undefined]);
  expect(await ask(`HEAD http://${at}/`)).toEqual(["200", undefined]);
  expect(await ask(`POST http://${at}/`)).toEqual(["403", "blocked-by-method-policy"]);
  expect(await ask(`CONNECT ${at}`)).toEqual(["403", "blocked-by-mitm-required"]);
});

it("a request for a unix socket is refused", async () => {
  const { connect, events } = await startProxy({ domains: { localhost: "allow" } });
  const request = "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nx-unix-socket: /var/run/docker.sock\r\n\r\n";
  expect(await (await connect()).send(request).receive("\r\n\r\n")).toContain("501");
  expect(events).toMatchObject([{ decision: "deny", reason: "unix_socket_unsupported", host: "unix-socket", port: 0 }]);
});

it("500 tunnels at once pass what they are sent, and one more than the limit is refused", async () => {
  const port = await startTcp(echo);
  const { connect, port: proxy } = await startProxy({ domains: PUB });
  const tunnel = async (index: number) => {
    const client = (await open(proxy)).send(`CONNECT pub.example:${port} HTTP/1.1\r\n\r\n`);
    await client.receive("\r\n\r\n");
    const text = `tunnel ${index};`;
    return (await client.send(text).receive(text)).endsWith(text);
  };
  const passed = await Promise.all(Array.from({ length: 500 }, (_, index) => tunnel(index)));
  expect(passed.filter((each) => each)).toHaveLength(500);
  await Promise.all(Array.from({ length: 524 }, (_, index) => tunnel(index)));
  const answer = await (await connect()).send(`CONNECT pub.example:${port} HTTP/1.1\r\n\r\n`).receiveAll();
  expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*too-many-connections/);
});
