import { Tunnel } from "@codex/channel";
import { describe, expect, test } from "vitest";
import { nextValue, turn, untilStill } from "../support.js";
import { createTunnelPair } from "./support.js";

const nothing = { sendPiece: async () => {}, sendAck: () => {}, sendClose: () => {} };

describe("a tunnel", () => {
  test("sends pieces of at most 64 KiB that end between characters, with the text unchanged", async () => {
    const pieces: { bytes: number; isLast: boolean }[] = [];
    const { left, right } = createTunnelPair({
      onPiece: (data, isLast) => pieces.push({ bytes: Buffer.byteLength(data), isLast }),
    });
    const json = `{"b": 1, "a": 12345678901234567890, "a": "${"a😀é".repeat(30_000)}"}`;
    await left.sendEncoded(Buffer.from(json));
    const received = await right.receive();
    expect(received?.kind === "value" && received.text).toBe(json);
    expect(Math.max(...pieces.map(({ bytes }) => bytes))).toBeLessThanOrEqual(65_536);
    expect(pieces.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(Buffer.byteLength(json));
    expect(pieces.map(({ isLast }) => isLast)).toEqual([false, false, false, true]);
    await left.close();
  });

  test("has at most its window unacknowledged while the other end takes nothing", async () => {
    let sent = 0;
    const count = (data: string) => {
      sent += data.length;
    };
    const { left, right } = createTunnelPair({ window: 4096, onPiece: count });
    const sending = Promise.all(Array.from({ length: 100 }, (_, n) => left.send({ n, fill: "x".repeat(500) })));
    await untilStill(() => sent);
    expect(sent).toBeGreaterThan(3000);
    expect(sent).toBeLessThanOrEqual(4096);
    for (let n = 0; n < 100; n++) expect(await nextValue(right)).toMatchObject({ n });
    await sending;
    await left.close();
  });

  test("counts a small piece as 256 bytes", async () => {
    let pieces = 0;
    const { left, right } = createTunnelPair({ window: 4096, onPiece: () => pieces++ });
    for (let n = 0; n < 100; n++) void left.send(n);
    await untilStill(() => pieces);
    expect(pieces).toBe(16);
    for (let n = 0; n < 100; n++) expect(await nextValue(right)).toBe(n);
    await left.close();
  });

  test("keeps at most one message in addition to the window, of any length", async () => {
    let sent = 0;
    const count = (data: string) => {
      sent += data.length;
    };
    const { left, right } = createTunnelPair({ window: 4096, onPiece: count });
    const sending = [left.send("a".repeat(100_000)), left.send("b".repeat(100_000))];
    await untilStill(() => sent);
    expect(sent).toBeGreaterThanOrEqual(100_002);
    expect(sent).toBeLessThanOrEqual(100_002 + 4096);
    expect(await nextValue(right)).toBe("a".repeat(100_000));
    expect(await nextValue(right)).toBe("b".repeat(100_000));
    await Promise.all(sending);
    await left.close();
  });

  test.each([
    ["more than the window", "x".repeat(5000), /more was sent than the window of 4096 bytes/],
    ["an empty piece", "", /empty/],
  ])("ends where the peer sends %s", async (_, data, problem) => {
    const ends: (string | undefined)[] = [];
    const windows = { received: 4096, sent: 4096 };
    const tunnel = new Tunnel({ ...nothing, sendClose: (reason) => ends.push(reason) }, windows);
    expect(tunnel.receivePiece(data, true)).toMatch(problem);
    expect(await tunnel.closed).toMatchObject({ kind: "failed", error: { message: expect.stringMatching(problem) } });
    expect(ends).toEqual([expect.stringMatching(problem)]);
    expect(tunnel.receivePiece("1", true)).toBeUndefined();
    expect(await tunnel.receive()).toBeUndefined();
  });

  test("reports a message over the limit in its place, and stays open", async () => {
    const { right } = createTunnelPair({ limits: { maxMessageBytes: 10 } });
    right.receivePiece('"0123456', false);
    right.receivePiece('789"', true);
    right.receivePiece("1", true);
    expect(await right.receive()).toEqual({
      kind: "malformed",
      problem: "message is larger than the limit of 10 bytes",
    });
    expect(await nextValue(right)).toBe(1);
    await right.close();
  });

  test("does not send more when the peer acknowledges more than was sent", async () => {
    let sent = 0;
    const sendPiece = async (data: string) => {
      sent += data.length;
    };
    const tunnel = new Tunnel({ ...nothing, sendPiece }, { received: 4096, sent: 4096 });
    tunnel.receiveAck(1e9);
    void tunnel.send("x".repeat(20_000));
    await untilStill(() => sent);
    expect(sent).toBe(4096);
    tunnel.receiveAck(1e9);
    await untilStill(() => sent);
    expect(sent).toBe(2 * 4096);
    await tunnel.close({ abrupt: true });
  });

  test("fails with the outer channel; messages that had arrived are still received", async () => {
    const { left, right } = createTunnelPair();
    await left.send("arrived");
    await turn();
    await turn();
    right.fail(new Error("the channel was lost"));
    expect(await nextValue(right)).toBe("arrived");
    expect(await right.receive()).toBeUndefined();
    await expect(right.send(1)).rejects.toMatchObject({ code: "closed", message: /the channel was lost/ });
    await left.close();
  });

  test("reports why the peer ended it", async () => {
    const { left } = createTunnelPair();
    left.receiveClose("it is too late");
    expect(await left.closed).toEqual({ kind: "peer_closed", detail: "it is too late" });
    await expect(left.send(1)).rejects.toMatchObject({ message: expect.stringContaining("it is too late") });
  });
});
