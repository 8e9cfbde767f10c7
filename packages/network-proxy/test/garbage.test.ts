// Whatever a command sends: nothing throws, no name is looked up that no rule allows, and nothing else is connected to.

import type { IncomingMessage } from "node:http";
import { parseHost } from "@codex/network-policy";
import { expect, it } from "vitest";
import { readClientHello } from "../src/client-hello.js";
import { parseAuthority, parseHttpTarget } from "../src/http-target.js";
import { SessionNames } from "../src/session-names.js";
import { readGreeting, readSocksRequest } from "../src/socks5.js";
import { open, startProxy, startWeb } from "./support.js";

/** Numbers from 0 to 1, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SOCKS = "\x05\x01\x00\x05\x01\x00\x03\x0bpub.example\x00\x50";
const QUERY = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03pub\x07example\x00\x00\x01\x00\x01";
const HELLO =
  "\x16\x03\x01\x00\x3f\x01\x00\x00\x3b\x03\x03" +
  "r".repeat(32) +
  "\x00\x00\x02\x13\x01\x01\x00\x00\x10\x00\x00\x00\x0c\x00\x0a\x00\x00\x07pub.exa";
/** What random input is made of: pieces that parsers look for. */
const PIECES = [
  ...["CONNECT ", "GET ", "OPTIONS * ", "PRI * ", "http://", "https://", "pub.example", "evil.example", "PUB.EXAMPLE."],
  ...[
    "127.0.0.1",
    "[::1]",
    "0x7f.1",
    "2130706433",
    "[::ffff:7f00:1]",
    "localhost",
    "host.internal",
    "xn--",
    "ü",
    "..",
    "%2e",
  ],
  ...[":80", ":443", ":0", ":99999", "@", "/", "?", "#", " ", "\r\n", "\r\n\r\n", "\n", "\0", "\t", " HTTP/1.1\r\n"],
  ...["Host: pub.example\r\n", "Host: evil.example\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"],
  ...["Connection: Upgrade\r\n", "Upgrade: websocket\r\n", "x-unix-socket: /run/x\r\n", "x".repeat(300)],
  ...[SOCKS, QUERY, HELLO, "\x05\x01\x00", "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x04\x01", "\xff\xff\xff"],
];

function createInput(random: () => number): Buffer {
  const pick = () => PIECES[Math.floor(random() * PIECES.length)]!;
  const bytes = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 8) }, pick).join(""), "latin1");
  const changes = random() < 0.5 ? 0 : Math.floor(random() * 4);
  for (let change = 0; change < changes; change += 1) {
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  }
  return random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
}

it("100,000 random inputs leave each parser with a host that is one, or with none", () => {
  const random = createRandom(1);
  const names = new SessionNames();
  const kinds = new Map<string, number>();
  const count = (kind: string) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const check = (text: string | undefined, kind: string) => {
    if (text === undefined) return;
    // Written as it is compared: it means the same to whoever parses it again, and no header or line can hide in it.
    if (parseHost(text)?.text !== text || !/^[\w.:-]{1,255}$/.test(text)) throw new Error(JSON.stringify([kind, text]));
    count(kind);
  };
  for (let at = 0; at < 100_000; at += 1) {
    const bytes = createInput(random);
    const text = bytes.toString("latin1");
    const [first = "", second = "", host] = text.split(/[ \r\n]+/);
    check(parseAuthority(first)?.host.text, "authority");
    check(parseHost(text)?.text, "host");
    const rawHeaders = host === undefined ? [] : ["Host", host];
    check(parseHttpTarget({ method: first, url: second, rawHeaders } as IncomingMessage)?.host.text, "request");
    readGreeting(bytes);
    const socks = readSocksRequest(bytes.subarray(bytes[0] === 5 && bytes[3] === 5 ? 3 : 0));
    if (socks.kind === "connect") check(parseHost(socks.host)!.text, "socks");
    count(readClientHello(bytes).kind);
    const answer = names.answer(bytes);
    if (answer !== undefined) count(`answer ${answer[3]! & 15}`);
    if (answer !== undefined && answer.length > bytes.length + 16)
      throw new Error("an answer is larger than its query");
  }
  // Each parser has seen what it accepts and what it does not.
  for (const kind of ["authority", "host", "request", "socks", "hello", "invalid", "incomplete", "other", "answer 0"]) {
    expect(kinds.get(kind) ?? 0, `${kind} of ${JSON.stringify([...kinds])}`).toBeGreaterThan(20);
  }
});

it("3,000 random connections look up and reach what is allowed alone", async () => {
  const reached = new Set<string>();
  const looked = new Set<string>();
  await startWeb((request, response) => {
    reached.add(request.headers.host ?? "");
    response.end("reached");
  });
  const { port, proxy, events } = await startProxy({
    domains: { "pub.example": "allow" },
    lookup: async (name) => {
      looked.add(name);
      return [];
    },
  });
  const random = createRandom(2);
  const send = async () => {
    const client = await open(port);
    client.send(createInput(random)).end();
    await client.receiveAll();
    client.socket.destroy();
  };
  for (let round = 0; round < 60; round += 1) await Promise.all(Array.from({ length: 50 }, send));
  proxy.flushEvents();
  expect([...looked]).toEqual(["pub.example"]);
  expect([...reached]).toEqual([]);
  const allowed = events.filter((event) => event.kind === "decision" && event.decision === "allow");
  expect(allowed).toEqual([]);
  expect(events.length).toBeGreaterThan(10);
});
