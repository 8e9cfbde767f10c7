import { createLocalBackend } from "@codex/process-host";
import { expect, it } from "vitest";
import { ENV } from "../../../process-host/test/support.js";
import { findRuntimeProblem } from "../../src/process/runtime.js";

it.each([
  [{ node: "24.3.0", bun: "1.4.5" }, "Bun 1.4.5 cannot run programs: Node 20.19 or newer is needed"],
  [{ node: "24.2.0", deno: "2.9.6", v8: "15.0" }, "Deno 2.9.6 cannot run programs: Node 20.19 or newer is needed"],
  [{}, "this runtime cannot run programs: Node 20.19 or newer is needed"],
])("%j is rejected with a sentence, and starts nothing", async (versions: Record<string, string>, sentence) => {
  expect(findRuntimeProblem(versions)).toContain(sentence);
  const backend = createLocalBackend({ versions });
  const spec = { argv: ["true"], cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" } } as const;
  await expect(backend.start(spec)).rejects.toMatchObject({
    code: "os_error",
    message: expect.stringContaining(sentence),
  });
  await backend.close();
});

it.each([undefined, { node: "20.19.0" }])("Node is not: %j", (versions) => {
  expect(findRuntimeProblem(versions)).toBeUndefined();
});
