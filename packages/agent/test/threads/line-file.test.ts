import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLines } from "../../src/threads/line-file.js";

/** A real file whose handle can be told to fail; `calls` are those that change it. */
async function setUp(content = "", fail: { append?: boolean; truncate?: boolean; datasync?: string } = {}) {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "lines "));
  const path = join(directory, "file");
  writeFileSync(path, content);
  const calls: string[] = [];
  const broken = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  const openFile = async (...args: Parameters<typeof open>) => {
    const handle = await open(...args);
    const { appendFile, truncate, datasync } = handle;
    return Object.assign(handle, {
      async appendFile(bytes: Buffer) {
        calls.push("append");
        if (fail.append !== true) return appendFile.call(handle, bytes);
        appendFileSync(path, bytes.subarray(0, 3)); // as much as there was room for
        return broken("ENOSPC");
      },
      async truncate(size: number) {
        calls.push("truncate");
        return fail.truncate === true ? broken("EPERM") : truncate.call(handle, size);
      },
      async datasync() {
        calls.push("datasync");
        return fail.datasync === undefined ? datasync.call(handle) : broken(fail.datasync);
      },
    } satisfies Partial<FileHandle>);
  };
  const file = await openLines(path, openFile as typeof open); // the one overload that is used
  onTestFinished(async () => {
    await file.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { file, fail, calls, read: () => readFileSync(path, "utf8") };
}

describe("a file of lines", () => {
  it.each([
    ["", "one\n"],
    ["old\n", "old\none\n"],
    ["half", "half\none\n"],
  ])("that has %j goes on behind whole lines", async (content, expected) => {
    const { file, read } = await setUp(content);
    await file.write("one\n");
    expect(read()).toBe(expected);
  });

  it.each(["", "old\n", "half"])("that has %j takes back what a failed write left", async (content) => {
    const { file, fail, read } = await setUp(content, { append: true });
    await expect(file.write("lost\n")).rejects.toThrow("ENOSPC");
    expect(read()).toBe(content);
    fail.append = false;
    await file.write("one\n");
    expect(read()).toBe(content === "half" ? "half\none\n" : `${content}one\n`);
  });

  it("that cannot be shortened gets a line feed behind the rest of a failed write", async () => {
    const { file, fail, read } = await setUp("old\n", { append: true, truncate: true });
    await expect(file.write("lost\n")).rejects.toThrow("ENOSPC");
    fail.append = false;
    await file.write("one\n");
    expect(read()).toBe("old\nlos\none\n");
  });

  it("is flushed once for all that wait, and again for a later line", async () => {
    const { file, calls } = await setUp();
    await file.write("one\n");
    await Promise.all([file.sync(), file.sync(), file.sync()]);
    await file.write("two\n");
    await file.sync();
    expect(calls).toEqual(["append", "datasync", "append", "datasync"]);
  });

  it("stays failed after a flush has failed, and does without one where there is none", async () => {
    const broken = await setUp("", { datasync: "EIO" });
    await expect(broken.file.sync()).rejects.toThrow("EIO");
    delete broken.fail.datasync;
    await expect(broken.file.sync()).rejects.toThrow("EIO");
    const without = await setUp("", { datasync: "EINVAL" });
    await without.file.sync();
    expect(without.calls).toEqual(["datasync"]);
  });
});
