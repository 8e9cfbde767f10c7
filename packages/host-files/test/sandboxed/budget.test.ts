import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileSystem } from "../../src/file-system.js";
import { LARGE_LISTING_ENTRIES } from "../../src/limits.js";
import { FS_REQUESTS } from "../../src/methods.js";
import type { SandboxLease } from "../../src/sandboxed/sandboxed-files.js";
import { useFiles } from "../support.js";

const files = useFiles();

/** Calls whose sandbox restricts nothing if there is no `lease`; each that waits for memory gets it by a `release`. */
function open(lease: SandboxLease | undefined) {
  const sandboxed = { connect: () => ({ acquire: async () => lease, dispose: async () => {} }) };
  const connection = createFileSystem({ sandboxed }).createConnectionFileSystem({ onMissingChanged: () => {} });
  onTestFinished(() => connection.dispose());
  const reserved: number[] = [];
  const releases: (() => void)[] = [];
  const reserve = (bytes: number) => {
    reserved.push(bytes);
    return new Promise<void>((resolve) => releases.push(resolve));
  };
  const sandbox = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
  const call = (method: string, name: string) =>
    FS_REQUESTS.get(`fs/${method}`)!({ path: files.url(name), sandbox })(connection, reserve);
  return { call, reserved, release: () => releases.shift()?.() };
}

describe.each(["readDirectory", "readFile"])("the memory of %s in a sandbox", (method) => {
  it("is waited for with one result at a time", async () => {
    const sizes = [1_000_000, 2_000_000];
    let calls = 0;
    const { call, reserved, release } = open({
      call: async () => Buffer.alloc(sizes[calls++]!),
      pin: () => {},
      release: () => {},
    });
    const both = Promise.all([call(method, "sub"), call(method, "sub")]);
    await expect.poll(() => reserved).toEqual([sizes[0]]);
    expect(calls).toBe(1);
    release();
    await expect.poll(() => reserved).toEqual(sizes);
    release();
    await both;
  });

  it("is reserved once where the sandbox restricts nothing", async () => {
    const [path, count] = method === "readFile" ? ["f.txt", 0] : ["large", LARGE_LISTING_ENTRIES + 1];
    if (count > 0) mkdirSync(files.path(path));
    for (let index = 0; index < count; index += 1) writeFileSync(join(files.path(path), `${index}`), "");
    const { call, reserved, release } = open(undefined);
    const answer = call(method, path);
    await expect.poll(() => reserved).toHaveLength(1);
    release();
    await answer;
    expect(reserved).toHaveLength(1);
  });
});
