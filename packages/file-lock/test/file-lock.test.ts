import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, expect, test } from "vitest";

const SOURCE = fileURLToPath(new URL("../src/file-lock.ts", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "file-lock-"));
afterEach(() => rmSync(directory, { recursive: true }));

/** Counts under the lock, and now and then leaves the lock of a process that is dead: no pid is that large. */
const PROGRAM = `
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { withFileLock } from "./file-lock.mjs";
for (let count = 0; count < 100; count++) {
  await withFileLock("lock", { timeoutMs: 60_000 }, async () => {
    const value = Number(readFileSync("counter", "utf8"));
    await new Promise((next) => setImmediate(next));
    writeFileSync("counter", String(value + 1));
  });
  try {
    if (count % 3 === 0) writeFileSync("lock", \`4194305 \${hostname()}\\n\`, { flag: "wx" });
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
  expect(await Promise.all(workers.map((worker) => once(worker, "exit")))).toEqual(workers.map(() => [0, null]));
  expect(readFileSync(join(directory, "counter"), "utf8")).toBe("400");
});
