import { describe, expect, it } from "vitest";
import { echo, startProxy, startTcp } from "./support.js";

const GREETING = Buffer.from([5, 1, 0]);
const DOMAINS = { "**.pub.example": "allow", "127.0.1.1": "allow" } as const;

/** A request to a name. */
function toName(name: string, port: number, command = 1): Buffer {
  const bytes = Buffer.from(name, "latin1");
  return Buffer.concat([Buffer.from([5, command, 0, 3, bytes.length]), bytes, Buffer.from([port >> 8, port & 255])]);
}

async function start() {
  const proxy = await startProxy({ domains: DOMAINS });
  const client = await proxy.connect();
  return { ...proxy, client };
}

it.each(["name", "address"])("a connection by %s is passed in both directions", async (kind) => {
  const port = await startTcp(echo);
  const { client, events } = await start();
  const toAddress = Buffer.from([5, 1, 0, 1, 127, 0, 1, 1, port >> 8, port & 255]);
  client.send(GREETING);
  await client.receive(2);
  client.send(Buffer.concat([kind === "name" ? toName("pub.example", port) : toAddress, Buffer.from("hello")]));
  const answer = await client.receive("hello");
  expect(Buffer.from(answer, "latin1").subarray(0, 4)).toEqual(Buffer.from([5, 0, 5, 0]));
  expect(events[0]).toMatchObject({ decision: "allow", protocol: "socks5", port });
});

it("a handshake may come in single bytes", async () => {
  const port = await startTcp(echo);
  const { client } = await start();
  for (const byte of [...GREETING, ...toName("pub.example", port)]) client.send(Buffer.from([byte]));
  await client.receive(12);
  expect((await client.send("x").receive(13)).at(-1)).toBe("x");
});

describe("a request is refused with a reply that says why", () => {
  it.each([
    ["a host that no rule allows", toName("evil.example", 80), 2],
    ["a name with a NUL", toName("evil.example\0.pub.example", 80), 1],
    ["a name with an @", toName("evil.example@x.pub.example", 80), 1],
    ["port 0", toName("pub.example", 0), 1],
    ["a name without an address", toName("a_b.pub.example", 80), 4],
    ["a host that refuses connections", toName("pub.example", 1), 5],
    ["UDP", toName("pub.example", 80, 3), 7],
    ["an unknown kind of address", Buffer.from([5, 1, 0, 9, 0, 0, 0]), 8],
  ])("%s", async (_, request, code) => {
    const { client } = await start();
    client.send(Buffer.concat([GREETING, request]));
    const answer = Buffer.from(await client.receiveAll(), "latin1");
    expect([...answer.subarray(0, 4)]).toEqual([5, 0, 5, code]);
    expect(answer).toHaveLength(12);
  });

  it("a client that only authenticates with a password", async () => {
    const { client } = await start();
    expect(await client.send(Buffer.from([5, 1, 2])).receiveAll()).toBe("\x05\xff");
  });
});
