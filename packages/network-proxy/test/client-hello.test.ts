import { Duplex, PassThrough } from "node:stream";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { readClientHello } from "../src/client-hello.js";

/** What Node's TLS client sends first. */
async function hello(servername: string): Promise<Buffer> {
  const sent = new PassThrough();
  const socket = Duplex.from({ writable: sent, readable: new PassThrough() });
  const tls = connectTls({ socket, servername });
  tls.on("error", () => undefined);
  const first = await new Promise<Buffer>((resolve) => sent.once("data", resolve));
  tls.destroy();
  return first;
}

it("each beginning of a handshake is incomplete, and the whole one tells its name", async () => {
  const whole = await hello("pub.example");
  expect(readClientHello(whole)).toEqual({ kind: "hello", name: "pub.example" });
  for (let length = 0; length < whole.length; length++) {
    expect(readClientHello(whole.subarray(0, length)).kind, String(length)).toBe("incomplete");
  }
});

it("a handshake may be spread over records of one byte", async () => {
  const whole = await hello("pub.example");
  const records = [...whole.subarray(5)].map((byte) => Buffer.from([22, 3, 1, 0, 1, byte]));
  expect(readClientHello(Buffer.concat(records))).toEqual({ kind: "hello", name: "pub.example" });
});

it("a changed byte never makes the reader throw", async () => {
  const whole = await hello("pub.example");
  for (let at = 0; at < whole.length; at++) {
    for (const value of [0, 1, 255]) {
      const changed = Buffer.from(whole);
      changed[at] = value;
      expect(["hello", "incomplete", "invalid", "other"]).toContain(readClientHello(changed).kind);
    }
  }
});

it("other protocols are told by their first bytes", () => {
  for (const text of ["GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x16\x01"]) {
    expect(readClientHello(Buffer.from(text, "latin1"))).toEqual({ kind: "other" });
  }
});
