import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionNames } from "../src/session-names.js";
import { echo, listen, open, startProxy, startTcp } from "./support.js";

/** A query for one name, as a resolver sends it. */
function query(name: string, type = 1): Buffer {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label, "latin1")]);
  return Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, type, 0, 1]);
}

/** The code of an answer, and the address in it. */
function read(answer: Buffer | undefined) {
  if (answer === undefined) return undefined;
  const count = answer.readUInt16BE(6);
  return { code: answer[3]! & 15, address: count === 0 ? undefined : answer.subarray(-4).join(".") };
}

describe("the DNS of a session", () => {
  it("gives each name an address of its own, and the same one again", () => {
    const names = new SessionNames();
    const ask = (name: string) => read(names.answer(query(name)))?.address;
    expect(["a.example", "B.example", "A.EXAMPLE", "localhost"].map(ask)).toEqual([
      "127.128.0.1",
      "127.128.0.2",
      "127.128.0.1",
      "127.0.0.1",
    ]);
    expect(names.find("127.128.0.2")?.text).toBe("b.example");
    expect(names.find("127.128.0.3")).toBeUndefined();
    expect(names.find("127.0.0.1")).toBeUndefined();
  });

  it("answers other types than A with nothing, and what is no name with an error", () => {
    const names = new SessionNames();
    expect(read(names.answer(query("a.example", 28)))).toEqual({ code: 0, address: undefined });
    expect(read(names.answer(query("a%b.example")))).toEqual({ code: 3, address: undefined });
  });

  it("names no further hosts after 4,096, and keeps those it has", () => {
    const names = new SessionNames();
    const ask = (index: number) => read(names.answer(query(`n${index}.example`)));
    const all = Array.from({ length: 4097 }, (_, index) => ask(index));
    expect(new Set(all.map((each) => each?.address)).size).toBe(4097);
    expect(all.at(-1)).toEqual({ code: 2, address: undefined });
    expect(ask(4095)).toEqual({ code: 0, address: "127.128.16.0" });
    expect(names.find("127.128.16.0")?.text).toBe("n4095.example");
  });

  it("does not answer what is no query", () => {
    const names = new SessionNames();
    const whole = query("a.example");
    for (let length = 0; length < whole.length; length++) {
      expect(names.answer(whole.subarray(0, length))).toBeUndefined();
    }
    const response = Buffer.from(whole);
    response[2] = 0x81;
    expect(names.answer(response)).toBeUndefined();
    const pointer = Buffer.from(whole);
    pointer[12] = 0xc0;
    expect(names.answer(pointer)).toBeUndefined();
  });
});

it.skipIf(process.platform !== "linux")(
  "a connection to the address of a name reaches its host (only Linux has all of 127.0.0.0/8)",
  async () => {
    const { proxy, events } = await startProxy({ domains: { "pub.example": "allow" } });
    const port = await startTcp(echo);
    // The session has a loopback of its own; here both ends share one, so the host listens at another address.
    const direct = createServer({ allowHalfOpen: true });
    proxy.serveDirect(direct, port, () => "p1");
    await listen(direct, "127.128.0.1", port);
    const dns = createSocket("udp4");
    await new Promise<void>((resolve) => dns.bind(0, "127.0.0.1", resolve));
    onTestFinished(() => void dns.close());
    proxy.serveDns(dns);
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${dns.address().port}`]);
    const [address] = await resolver.resolve4("pub.example");
    expect(address).toBe("127.128.0.1");
    const client = (await open(port, address)).send("hello").end();
    expect(await client.receiveAll()).toBe("hello");
    await expect
      .poll(() => events)
      .toMatchObject([
        { kind: "lookup", host: "pub.example" },
        { protocol: "direct", client: "p1", host: "pub.example", decision: "allow" },
        { kind: "end", sent: 5, received: 5 },
      ]);
  },
);
