import { once } from "node:events";
import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  utimesSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMarks } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createGuard } from "../../../process-host/src/guard/guard.js";
import { ENV } from "../../../process-host/test/support.js";
import { STALE_NAME_MS } from "../../src/limits.js";
import { openUnnamed } from "../../src/output-log/unnamed-file.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "codex-unnamed-test-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Why an unnamed file cannot be created here. */
const problem = (() => {
  if (process.platform !== "linux") return "for Linux";
  try {
    closeSync(openSync(tmpdir(), constants.O_RDWR | 0o20000000 | constants.O_DIRECTORY, 0o600));
    return "";
  } catch (error) {
    return `this file system does not support it: ${error}`;
  }
})();

it("is written with one descriptor and read with the other, from its beginning", () => {
  const { file, reader } = openUnnamed(directory);
  writeSync(file, "hello");
  const bytes = Buffer.alloc(9);
  expect(bytes.toString("latin1", 0, readSync(reader, bytes))).toBe("hello");
  expect(fstatSync(file)).toMatchObject({ nlink: 0, size: 5 });
  expect(fstatSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual([]);
  closeSync(file);
  closeSync(reader);
});

it.skipIf(problem !== "")(
  `neither the guard's file nor spilled output ever has a name${problem && `: skipped, ${problem}`}`,
  async () => {
    const names: string[] = [];
    const watcher = watch(directory, (_event, name) => void names.push(String(name)));
    const marks = createMarks();
    const guard = createGuard({ directories: [directory], markPrefix: marks.prefix });
    const backend = createLocalBackend({ guard });
    try {
      const log = { headBytes: 1_000, tailBytes: 1_000, spillBytes: 1_000_000, spillDir: directory };
      const argv = ["sh", "-c", "head -c 100000 /dev/zero"];
      const writer = await backend.start({ argv, cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" }, log });
      await writer.closed;
      const { chunks } = await writer.log.read(0);
      expect(chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(100_000);
      writeFileSync(join(directory, "last"), "");
      while (!names.includes("last")) await once(watcher, "change");
      // The kernel reports an unnamed file by its inode number.
      expect(new Set(names.filter((name) => !/^#\d+$/.test(name)))).toEqual(new Set(["last"]));
    } finally {
      watcher.close();
      marks.release();
      await backend.close();
    }
  },
);

it("removes stale names where a name is needed", () => {
  const names = ["codex-unnamed-old", "codex-unnamed-new", "other"];
  for (const name of names) writeFileSync(join(directory, name), "");
  const then = (Date.now() - STALE_NAME_MS - 10_000) / 1000;
  for (const name of ["codex-unnamed-old", "other"]) utimesSync(join(directory, name), then, then);
  const { file, reader } = openUnnamed(directory, false);
  expect(readdirSync(directory).sort()).toEqual(["codex-unnamed-new", "other"]);
  writeSync(file, "x");
  expect(readSync(reader, Buffer.alloc(2))).toBe(1);
  closeSync(file);
  closeSync(reader);
});
