import { describe } from "vitest";
import { CODEX_BINARY, startCodexServer } from "../../../exec-server/test/backend/codex-server.js";
import { openAtAddress } from "./address.js";
import { describeKind } from "./body.js";

describe.skipIf(CODEX_BINARY === "")("with CODEX_BINARY", () => {
  describeKind("an environment at codex exec-server", { extended: false, open: () => openAtAddress(startCodexServer) });
});
