import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseOptions } from "../src/options.mjs";
import { runAll } from "../src/run-all.mjs";

export const program = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
export const command = (name, ...args) =>
  [process.execPath, program(name), ...args].map((word) => `'${word}'`).join(" ");

/** A directory that is removed after the test. */
export async function withFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), "conformance-test-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Runs cases against a server that answers by script.
 * @param {{ script?: unknown[][] }[]} cases whose client name is their name
 * @returns {Promise<Map<string, import("../src/run-case.mjs").Result>>} by name
 */
export function runScripted(cases, args = []) {
  return withFolder(async (folder) => {
    const files = [join(folder, "scripts.json"), join(folder, "cases.json")];
    const scripts = Object.fromEntries(cases.map(({ name, script }) => [name, script ?? "echo"]));
    await writeFile(files[0], JSON.stringify(scripts));
    await writeFile(files[1], JSON.stringify(cases.map(({ script: _, ...each }) => each)));
    const server = command("scripted-server.mjs", files[0], "{listen}");
    const results = await runAll(parseOptions(["--server", server, "--cases", files[1], ...args]));
    return new Map(results.map((result) => [result.name, result]));
  });
}

/** Short time limits for messages that never come. */
export const IN_HASTE = ["--timeout-ms", "3000", "--settle-ms", "300", "--jobs", "6"];

export const SESSION = "0199a213-81c0-4800-8aa1-bbab2a035a53";
export const initialize = (clientName, more = {}) => ({ id: 1, method: "initialize", params: { clientName, ...more } });
export const initialized = (sessionId = SESSION) => ({
  id: 1,
  result: { sessionId, environmentInfo: { shell: { name: "sh", path: "/bin/sh" } } },
});
export const INITIALIZED = { id: 1, result: { sessionId: "<sessionId>", environmentInfo: "<environmentInfo>" } };
