import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type ServerOpts, type Socket } from "node:net";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { expectRejection } from "../support.js";

let server: Server | undefined;
const sockets = new Set<Socket>();

/** A TCP server with a connection handler of the test. */
async function serve(onConnection: (socket: Socket) => void, options: ServerOpts = {}): Promise<string> {
  server = createServer(options, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  if (server === undefined) return;
  const closed = once(server, "close");
  server.close();
  server = undefined;
  await closed;
});

test.each(["http://127.0.0.1:1", "ws://", "nonsense", "", "ws://127.0.0.1:1/#part", "unix:/tmp/x"])(
  "rejects the URL %j",
  async (url) => {
    await expectRejection(connectWebSocketChannel(url), "connect_failed", /is not a websocket URL; expected ws:\/\//);
  },
);

test("times out on a server that sends nothing", async () => {
  const url = await serve(() => {});
  const attempt = connectWebSocketChannel(url, { connectTimeoutMs: 20 });
  await expectRejection(attempt, "connect_timeout", /within 20 ms/);
});

test("is cancelled by its signal, before and during the attempt", async () => {
  const url = await serve(() => controller.abort());
  const controller = new AbortController();
  await expectRejection(connectWebSocketChannel(url, { signal: controller.signal }), "closed", /aborted/);
  await expectRejection(connectWebSocketChannel(url, { signal: controller.signal }), "closed", /aborted/);
});

test("a server that refuses the upgrade is an error with its text, shortened", async () => {
  const body = "n".repeat(5_000);
  const url = await serve((socket) => {
    socket.once("data", () => socket.end(`HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5000\r\n\r\n${body}`));
  });
  const error: unknown = await connectWebSocketChannel(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "connect_failed", message: expect.stringMatching(/HTTP 502: n{512}$/) });
});

test("a connection that breaks during the handshake is an error", async () => {
  const url = await serve((socket) => socket.once("data", () => socket.destroy()));
  await expectRejection(connectWebSocketChannel(url), "connect_failed", /socket hang up|ECONNRESET/);
});

test("a server without TLS is distinguished from a broken one", async () => {
  const plain = await serve((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
  const expected = /does not speak TLS; without it the URL is ws:\/\/$/;
  await expectRejection(connectWebSocketChannel(plain.replace("ws:", "wss:")), "connect_failed", expected);
});

test("the error suggests TLS for a server that hangs up", async () => {
  const url = await serve((socket) => socket.once("data", () => socket.end()));
  await expectRejection(
    connectWebSocketChannel(url),
    "connect_failed",
    /hang up; if the server speaks TLS.* wss:\/\/$/,
  );
});

test("errors do not contain the secrets of a URL", async () => {
  const url = (await serve((socket) => socket.destroy())).replace("ws://", "ws://user:hunter2@");
  const error: unknown = await connectWebSocketChannel(`${url}/?token=hunter3`).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "connect_failed", message: expect.not.stringMatching(/hunter/) });
});

test("a header that HTTP does not allow is a connect error", async () => {
  const attempt = connectWebSocketChannel("ws://127.0.0.1:1", { headers: { authorization: "a\r\nb: c" } });
  await expectRejection(attempt, "connect_failed", /[Ii]nvalid character/);
});

/** Responds to the upgrade, and passes the socket to the test. */
function upgrade(socket: Socket, onUpgraded: () => void): void {
  socket.once("data", (request) => {
    const key = /^sec-websocket-key: (.+)\r$/im.exec(request.toString())?.[1];
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    const head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    socket.write(`${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
    onUpgraded();
  });
}

const CLOSE_FRAME = Buffer.from([0x88, 0x02, 0x03, 0xe8]); // with code 1000

/** Later than any test would wait. */
const FAR_DEADLINE = { deadlineMs: 2 ** 30 };

async function expectOnlyCloseFrame(received: readonly Buffer[]): Promise<void> {
  const [socket] = sockets;
  if (socket?.readableEnded === false) await once(socket, "end");
  const [opcode, length, ...rest] = Buffer.concat(received);
  expect([opcode, length, rest.length]).toEqual([0x88, 0x80 + 2, 4 + 2]); // masked
}

test("after the close frame of a server, its response is sent without waiting for the server's end", async () => {
  const received: Buffer[] = [];
  const answer = (socket: Socket) =>
    upgrade(socket, () => {
      socket.on("data", (bytes) => received.push(bytes));
      socket.write(Buffer.concat([Buffer.from([0x81, 0x01, 0x31]), CLOSE_FRAME])); // behind the text "1"
    });
  const channel = await connectWebSocketChannel(await serve(answer, { allowHalfOpen: true }));
  expect(await channel.receive()).toMatchObject({ kind: "value", value: 1 });
  await channel.close(FAR_DEADLINE);
  await expectOnlyCloseFrame(received);
});

test("close waits for the close frame of the server, and not for the end of its side", async () => {
  const received: Buffer[] = [];
  const answer = (socket: Socket) =>
    upgrade(socket, () => {
      socket.on("data", (bytes) => {
        received.push(bytes);
        socket.write(CLOSE_FRAME);
      });
    });
  const channel = await connectWebSocketChannel(await serve(answer, { allowHalfOpen: true }));
  await channel.close(FAR_DEADLINE);
  expect(await channel.closed).toEqual({ kind: "closed" });
  await expectOnlyCloseFrame(received);
});

describe("subprotocols", () => {
  const listenFor = async (subprotocols?: readonly string[]) => {
    const offers: (string | undefined)[] = [];
    const listener = await createWebSocketListener({
      ...(subprotocols === undefined ? {} : { subprotocols }),
      onChannel: (channel, { headers }) => {
        offers.push(headers["sec-websocket-protocol"]);
        void channel.send("hello");
      },
    });
    onTestFinished(() => listener.close());
    return { url: listener.url, offers };
  };

  test.each([
    [["a", "b"], ["b", "a"], "b"],
    [["a"], ["b"], undefined],
    [["a"], undefined, undefined],
    [undefined, ["a"], undefined],
  ])("offered %j, accepted %j: %j is chosen", async (offered, accepted, chosen) => {
    const { url, offers } = await listenFor(accepted);
    const channel = await connectWebSocketChannel(url, offered === undefined ? {} : { subprotocols: offered });
    onTestFinished(() => channel.close());
    expect(channel.subprotocol).toBe(chosen);
    expect(await channel.receive()).toMatchObject({ kind: "value", value: "hello" });
    expect(offers).toEqual([offered?.join(", ")]);
  });

  test.each([["c"], [undefined]])("a server that chooses another one than %j is refused", async (offered) => {
    const url = await serve((socket) => {
      socket.once("data", (head) => {
        const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1];
        const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
        socket.write(
          [...lines, `Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${"x".repeat(500)}`, "", ""].join(
            "\r\n",
          ),
        );
      });
    });
    const attempt = connectWebSocketChannel(url, offered === undefined ? {} : { subprotocols: [offered] });
    await expectRejection(attempt, "connect_failed", /chose the subprotocol "x{64}", which was not offered/);
  });
});
