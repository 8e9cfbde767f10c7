import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

it.each([
  [["--kind", "UNKNOWN"], /^faults: --kind "UNKNOWN": expected wire, .*, orchestrator-killed\n$/],
  [["--runs", "some"], /^faults: --runs takes a count, got "some"\n$/],
  [["--sort"], /^faults: Unknown option '--sort'/],
])("exits with 2 and reports what is wrong with %j", async (args, message) => {
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [main, ...args], (error, _stdout, stderr) => resolve({ code: error?.code, stderr }));
  });
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});
