import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { fingerprintOf, openIdentityFile } from "../../src/index.js";

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "identity "));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it("an identity file is created once, for the user alone, and has the same key ever after", async () => {
  const directory = createDirectory();
  const file = join(directory, "executor.key");
  const opened = await Promise.all([openIdentityFile(file), openIdentityFile(file), openIdentityFile(file)]);
  const again = await openIdentityFile(file);
  expect(new Set([...opened, again].map(({ publicKey }) => fingerprintOf(publicKey))).size).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(["executor.key"]);
});

it.each([
  ["empty", ""],
  ["cut short", '{"version":1,"x25519":"AAAA"'],
  ["of another version", '{"version":2,"x25519":"","mlkem768_seed":""}'],
  ["with short keys", '{"version":1,"x25519":"c2VjcmV0","mlkem768_seed":"c2VjcmV0"}'],
])("a file that is %s is refused by name, stays as it is, and its content is not shown", async (_what, content) => {
  const file = join(createDirectory(), "executor.key");
  writeFileSync(file, content);
  const error = await openIdentityFile(file).catch((cause: Error) => cause);
  expect(error).toMatchObject({ message: `${file} does not contain the key of an executor` });
  expect(readFileSync(file, "utf8")).toBe(content);
});

it("a file that cannot be created is an error", async () => {
  await expect(openIdentityFile(join(createDirectory(), "missing", "executor.key"))).rejects.toThrow("ENOENT");
});
