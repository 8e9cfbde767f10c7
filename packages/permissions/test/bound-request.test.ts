import { expect, it } from "vitest";
import { type BoundRequest, renderBoundRequest } from "../src/index.js";

const request = (env: Record<string, string>): BoundRequest =>
  ({ command: ["ls"], cwd: "/", env, tty: false }) as BoundRequest; // the rest is absent

it("is the same approval for the same command of another call, and not with any other variable", () => {
  const one = renderBoundRequest(request({ A: "1", CODEX_THREAD_ID: "t", CODEX_TOOL_CALL_ID: "c1" }));
  expect(renderBoundRequest(request({ CODEX_TOOL_CALL_ID: "c2", CODEX_SESSION_ID: "s", A: "1" }))).toBe(one);
  expect(renderBoundRequest(request({ A: "1", CODEX_VERSION: "2" }))).not.toBe(one);
});
