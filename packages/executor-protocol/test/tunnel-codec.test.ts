import { expect, it } from "vitest";
import { parseExecutorMessage } from "../src/parse.js";
import { createTunnelClose, createTunnelPiece, deliverTunnelMessage } from "../src/tunnel-codec.js";

/** Records its calls; a piece `bad` is a violation. */
function createReceiver() {
  const calls: unknown[][] = [];
  const tunnel = {
    receivePiece: (data: string, isLast: boolean) => {
      calls.push(["piece", data, isLast]);
      return data === "bad" ? "violation" : undefined;
    },
    receiveAck: (takenBytes: number) => void calls.push(["ack", takenBytes]),
    receiveClose: (reason: string | undefined) => void calls.push(["close", reason]),
  };
  return { calls, tunnel };
}

it("delivers what it creates", () => {
  const { calls, tunnel } = createReceiver();
  const messages = [
    createTunnelPiece(7, "[1,", false),
    createTunnelPiece(7, "2]", true),
    { type: "exec_server_ack", tunnel: 7, takenBytes: 256 } as const,
    createTunnelClose(7, undefined),
    createTunnelClose(7, "gone"),
  ];
  for (const message of messages) {
    expect(parseExecutorMessage(message)).toEqual({ kind: "ok", message });
    expect(deliverTunnelMessage(message, tunnel)).toBeUndefined();
  }
  expect(calls).toEqual([
    ["piece", "[1,", false],
    ["piece", "2]", true],
    ["ack", 256],
    ["close", undefined],
    ["close", "gone"],
  ]);
});

it("leaves optional members out", () => {
  expect(createTunnelPiece(1, "x", true)).toEqual({ type: "exec_server", tunnel: 1, data: "x" });
  expect(Object.keys(createTunnelClose(1, undefined))).toEqual(["type", "tunnel"]);
});

it("returns a violation of the peer", () => {
  expect(deliverTunnelMessage(createTunnelPiece(1, "bad", true), createReceiver().tunnel)).toBe("violation");
});
