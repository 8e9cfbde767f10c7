import { describe } from "vitest";
import { CODEX_BINARY, startCodexServer } from "./codex-server.js";
import { describeCuts } from "./cuts.js";
import { listenOwnServer } from "./own-server.js";

describeCuts("a connection to our server", listenOwnServer);

describe.skipIf(CODEX_BINARY === "")("with CODEX_BINARY", () => {
  describeCuts("a connection to codex exec-server", () => startCodexServer());
});
