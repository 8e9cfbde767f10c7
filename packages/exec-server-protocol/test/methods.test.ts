import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND } from "@codex/channel";
import { expect, it } from "vitest";
import { ERROR_CODES, METHODS, NETWORK_POLICY_REQUEST, NOTIFICATIONS } from "../src/methods.js";

it("pins the names of requests", () => {
  expect(Object.values(METHODS)).toEqual([
    "initialize",
    "environment/info",
    "environment/status",
    "environmentConfig/read",
    "capabilities/discoverV2",
    "process/start",
    "process/read",
    "process/write",
    "process/signal",
    "process/terminate",
    "fs/readFile",
    "fs/open",
    "fs/readBlock",
    "fs/writeBlock",
    "fs/close",
    "fs/writeFile",
    "fs/createDirectory",
    "fs/getMetadata",
    "fs/canonicalize",
    "fs/readDirectory",
    "fs/walk",
    "fs/remove",
    "fs/copy",
    "fs/watchMissing",
    "http/request",
    "process/list",
    "process/resize",
    "process/closeStdin",
    "http/cancel",
  ]);
});

it("pins the names of notifications", () => {
  expect(Object.values(NOTIFICATIONS)).toEqual([
    "initialized",
    "process/output",
    "process/exited",
    "process/closed",
    "fs/missingChanged",
    "http/request/bodyDelta",
    "network/policyDecision",
  ]);
  expect(NETWORK_POLICY_REQUEST).toBe("network/policyRequest");
});

it("pins the error codes, which agree with those of the channel", () => {
  expect(ERROR_CODES).toEqual({
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internal: -32603,
    notFound: -32004,
    sessionBusy: -32010,
    contentChanged: -32011,
  });
  expect([RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND, RPC_INVALID_PARAMS, RPC_INTERNAL_ERROR]).toEqual([
    -32600, -32601, -32602, -32603,
  ]);
});
