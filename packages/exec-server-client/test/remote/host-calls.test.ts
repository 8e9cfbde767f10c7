import { describe } from "vitest";
import { CODEX_BINARY, startCodexServer } from "../../../exec-server/test/backend/codex-server.js";
import { listenOwnServer } from "../../../exec-server/test/backend/own-server.js";
import { describeHostCalls } from "./host-calls.js";

describeHostCalls("host calls over our server", listenOwnServer);

describe.skipIf(CODEX_BINARY === "")("with CODEX_BINARY", () => {
  describeHostCalls("host calls over codex exec-server", () => startCodexServer());
});
