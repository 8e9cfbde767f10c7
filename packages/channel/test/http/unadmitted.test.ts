import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connectWebSocketChannel, createWebSocketListener, type ListenOptions } from "@codex/channel/websocket";
import { describe, expect, it, onTestFinished } from "vitest";

const TOKEN = "a-token";

async function listen(unadmitted: NonNullable<ListenOptions["unadmitted"]>, options: Partial<ListenOptions> = {}) {
  const listener = await createWebSocketListener({
    host: "127.0.0.1",
    port: 0,
    unadmitted,
    ...options,
    authorize: ({ headers }) =>
      headers.authorization === `Bearer ${TOKEN}` ? { ok: true } : { ok: false, status: 401, message: "" },
    onHttp(request, response) {
      if (request.url !== "/healthz") return false;
      response.writeHead(200).end();
      return true;
    },
    onChannel: (channel) => {
      void (async () => {
        for (let got = await channel.receive(); got?.kind === "value"; got = await channel.receive()) {
          await channel.send(got.value);
        }
        await channel.close();
      })();
    },
  });
  onTestFinished(() => listener.close());
  const dial = async (sent = "") => {
    const socket = connect(listener.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}); // a reset
    await once(socket, "connect");
    if (sent !== "") socket.write(sent);
    return socket;
  };
  const open = async () => {
    const channel = await connectWebSocketChannel(listener.url, { headers: { authorization: `Bearer ${TOKEN}` } });
    onTestFinished(() => channel.close());
    return channel;
  };
  return { dial, open };
}

const isOver = (socket: Socket) => socket.closed || socket.readableEnded;

describe("connections without a token", () => {
  it("are few at once; the one that has waited longest makes room, and who has a token keeps the connection", async () => {
    const { dial, open } = await listen({ most: 8, deadlineMs: 60_000 });
    const early = await open();
    const sockets: Socket[] = [];
    for (let count = 0; count < 40; count += 1) {
      const socket = await dial(count % 2 === 0 ? "" : "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
      socket.resume();
      sockets.push(socket);
    }
    await expect.poll(() => sockets.slice(0, 31).every(isOver)).toBe(true);
    for (const channel of [early, await open()]) {
      await channel.send({ say: "hi" });
      expect(await channel.receive()).toMatchObject({ value: { say: "hi" } });
    }
    expect(sockets.slice(-6).some(isOver)).toBe(false);
  });

  it.each([
    ["nothing", ""],
    ["half a request", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "],
    ["a request that is refused", "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("end after their time, also after %s", async (_name, sent) => {
    const { dial, open } = await listen({ deadlineMs: 300 });
    const channel = await open();
    const socket = await dial(sent);
    socket.resume();
    const began = performance.now();
    await once(socket, "close");
    expect(performance.now() - began).toBeLessThan(4_000); // Node's own limit for an idle connection is 5 s
    await channel.send(1);
    expect(await channel.receive()).toMatchObject({ value: 1 });
  });

  it("may be probes, each of which gives the connection its time again", async () => {
    const { dial } = await listen({ deadlineMs: 500 });
    const socket = await dial();
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString();
    });
    const began = performance.now();
    for (let count = 1; performance.now() - began < 900; count += 1) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      await expect.poll(() => text.split("200 OK").length - 1).toBe(count);
    }
    expect(socket.closed).toBe(false);
  });
});

it("a websocket that says nothing is closed after its time, with a token as without one; one that has said something stays", async () => {
  const { open } = await listen({}, { firstMessageMs: 300 });
  const [silent, speaking] = [await open(), await open()];
  await speaking.send("hi");
  expect(await speaking.receive()).toMatchObject({ value: "hi" });
  await silent.closed;
  await speaking.send("still");
  expect(await speaking.receive()).toMatchObject({ value: "still" });
});
