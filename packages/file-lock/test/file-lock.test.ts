import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileLock } from "../src/index.js";

const SOURCE = fileURLToPath(new URL("../src/file-lock.ts", import.meta.url));
let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "file-lock-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Counts under the lock, and now and then leaves the lock of a process that is dead: no pid is that large. */
const PROGRAM = `
import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { withFileLock } from "./file-lock.mjs";
const dead = \`dead-\${process.pid}\`;
writeFileSync(dead, \`4194305 \${hostname()}\\n\`);
for (let count = 0; count < 100; count++) {
  await withFileLock("lock", { timeoutMs: 60_000 }, async () => {
    const value = Number(readFileSync("counter", "utf8"));
    await new Promise((next) => setImmediate(next));
    writeFileSync("counter", String(value + 1));
  });
  try {
    if (count % 3 === 0) linkSync(dead, "lock");
  } catch {}
}
`;

test("is held by one process at a time, also while all of them break what dead ones left", async () => {
  await build({
    entryPoints: [SOURCE],
    outfile: join(directory, "file-lock.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
  });
  writeFileSync(join(directory, "program.mjs"), PROGRAM);
  writeFileSync(join(directory, "counter"), "0");
  const workers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ["program.mjs"], { cwd: directory, stdio: ["ignore", "inherit", "inherit"] }),
  );
  let running = true;
  const ended = Promise.all(workers.map((worker) => once(worker, "exit"))).finally(() => {
    running = false;
  });
  // Whoever is killed while it holds the lock leaves one that names it.
  const seen = new Set<boolean>();
  while (running) {
    const text = await readFile(join(directory, "lock"), "utf8").catch(() => undefined);
    if (text !== undefined) seen.add(/^\d+ .+\n$/.test(text));
  }
  expect(await ended).toEqual(workers.map(() => [0, null]));
  expect([...seen]).toEqual([true]);
  expect(readdirSync(directory).filter((name) => name.startsWith("lock."))).toEqual([]);
  expect(readFileSync(join(directory, "counter"), "utf8")).toBe("400");
});

test.skipIf(process.platform === "win32")("does not wait for what is no lock file", async () => {
  const path = join(directory, "lock");
  execFileSync("mkfifo", [path]);
  await expect(withFileLock(path, {}, async () => {})).rejects.toThrow(`${path}: it is a FIFO`);
});
