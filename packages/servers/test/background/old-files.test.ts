import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { OLD_FILES_DAYS } from "../../src/background/limits.js";
import { removeOldFiles } from "../../src/background/old-files.js";

it("removes logs and locks of servers that are gone, when they are old, and nothing else", () => {
  const directory = mkdtempSync(join(tmpdir(), "old-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const now = Date.now();
  const days = (count: number) => new Date(now - count * 24 * 60 * 60 * 1000);
  const write = (name: string, age: number) => {
    writeFileSync(join(directory, name), "");
    utimesSync(join(directory, name), days(age), days(age));
  };
  for (const name of ["gone.log", "gone.log.1", "gone.lock", "there.log", "there.lock", "there.sock", "other.txt"]) {
    write(name, OLD_FILES_DAYS + 1);
  }
  for (const name of ["recent.log", "recent.lock"]) write(name, OLD_FILES_DAYS - 1);
  removeOldFiles(directory, now);
  const kept = ["other.txt", "recent.lock", "recent.log", "there.lock", "there.log", "there.sock"];
  expect(readdirSync(directory).sort()).toEqual(kept);
});
