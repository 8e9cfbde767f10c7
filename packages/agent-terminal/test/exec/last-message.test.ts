import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLastMessageFile } from "../../src/exec/last-message.js";

async function write(path: string, ...texts: string[]): Promise<void> {
  const file = await openLastMessageFile(path);
  for (const text of texts) await file.write(text);
  await file.close();
}

describe("the file of the last message", () => {
  it("has the last text alone", async () => {
    const directory = mkdtempSync(join(tmpdir(), "last-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    await write(join(directory, "out"), "a longer one", "ünd");
    expect(readFileSync(join(directory, "out"), "utf8")).toBe("ünd");
  });

  it("may be a device, or a pipe that this process has open", async () => {
    await write("/dev/null", "gone");
    const directory = mkdtempSync(join(tmpdir(), "last-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    execFileSync("mkfifo", [join(directory, "pipe")]);
    const fd = openSync(join(directory, "pipe"), constants.O_RDWR);
    onTestFinished(() => closeSync(fd));
    await write(`/dev/fd/${fd}`, "through");
    const read = Buffer.alloc(64);
    expect(read.subarray(0, readSync(fd, read)).toString()).toBe("through");
  });
});
