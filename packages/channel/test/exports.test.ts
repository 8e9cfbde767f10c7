import * as channel from "@codex/channel";
import * as websocket from "@codex/channel/websocket";
import { expect, test } from "vitest";

test("pins the exported names", () => {
  expect(Object.keys(channel).sort()).toEqual([
    "CarriedChannel",
    "ChannelError",
    "DEFAULT_CHANNEL_LIMITS",
    "DEFAULT_PEER_LIMITS",
    "DEFAULT_TUNNEL_WINDOW",
    "EncodedResponse",
    "ErrorResponse",
    "Fifo",
    "MIN_TUNNEL_WINDOW",
    "Peer",
    "RPC_INTERNAL_ERROR",
    "RPC_INVALID_PARAMS",
    "RPC_INVALID_REQUEST",
    "RPC_METHOD_NOT_FOUND",
    "RpcError",
    "Tunnel",
    "TurnCork",
    "answerPage",
    "answerProbe",
    "boundUnadmitted",
    "createMemoryChannelPair",
    "createStdioChannel",
    "encodeId",
    "findFinal",
    "findMessage",
    "followTlsSource",
    "parseEnvelope",
    "resolveLimits",
    "toTlsOptions",
    "withRoom",
  ]);
  expect(Object.keys(websocket).sort()).toEqual([
    "FIRST_MESSAGE_MS",
    "answerProbe",
    "connectWebSocketChannel",
    "createWebSocketListener",
  ]);
});

test("pins the default limits", () => {
  expect(channel.DEFAULT_CHANNEL_LIMITS).toEqual({
    maxMessageBytes: 67_108_864,
    maxSentMessageBytes: 67_108_864,
    maxDepth: 128,
    maxValues: 1_048_576,
    highWaterBytes: 1_048_576,
    maxWaitingBytes: 1_048_576,
    maxWaitingMessages: 256,
  });
  expect(channel.DEFAULT_PEER_LIMITS).toEqual({
    maxHandledRequests: 4096,
    maxHandledBytes: 134_217_728,
    maxPendingRequests: 65_536,
    drainMs: 5_000,
  });
});

test("the limit of sent messages defaults to that of received ones", () => {
  expect(channel.resolveLimits({ maxMessageBytes: 10 })).toMatchObject({
    maxMessageBytes: 10,
    maxSentMessageBytes: 10,
  });
  expect(channel.resolveLimits({ maxSentMessageBytes: 99 })).toMatchObject({
    maxMessageBytes: 67_108_864,
    maxSentMessageBytes: 99,
  });
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 60])("a limit of %d is an error that names it", (value) => {
  expect(() => channel.resolveLimits({ maxDepth: value })).toThrow(
    `\`maxDepth\` must be a positive integer, got ${value}`,
  );
});

test("pins the JSON-RPC codes", () => {
  const { RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND, RPC_INVALID_PARAMS, RPC_INTERNAL_ERROR } = channel;
  const codes = [RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND, RPC_INVALID_PARAMS, RPC_INTERNAL_ERROR];
  expect(codes).toEqual([-32600, -32601, -32602, -32603]);
});
