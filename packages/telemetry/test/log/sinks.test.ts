import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogFileSink, createPipeSink, createStreamSink } from "../../src/index.js";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "codex-log-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const droppedOf = (line: string) => (JSON.parse(line) as { dropped?: number }).dropped;

describe("a log file", () => {
  it("is created with mode 600, and appended to", async () => {
    const path = join(directory, "append.log");
    for (const line of ["one\n", "two\n"]) {
      const sink = createLogFileSink(path, { format: "json" });
      sink.write(line);
      await sink.close();
    }
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("keeps the order of many lines", async () => {
    const path = join(directory, "order.log");
    const sink = createLogFileSink(path, { format: "json" });
    const lines = Array.from({ length: 5000 }, (_, index) => `${index}\n`);
    for (const line of lines) sink.write(line);
    await sink.close();
    expect(readFileSync(path, "utf8")).toBe(lines.join(""));
  });

  it("is rotated at its size: there are never more than two files", async () => {
    const path = join(directory, "rotate.log");
    writeFileSync(path, "old\n");
    const sink = createLogFileSink(path, { format: "json", maxBytes: 10 });
    for (const line of ["123456\n", "abcdef\n", "last\n"]) {
      sink.write(line);
      await new Promise((resolve) => setImmediate(resolve)); // one write each
    }
    await sink.close();
    const kept = readFileSync(`${path}.1`, "utf8") + readFileSync(path, "utf8");
    expect(kept.endsWith("last\n")).toBe(true);
    expect(statSync(path).size).toBeLessThanOrEqual(20);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("drops lines beyond its queue, and reports how many", async () => {
    const path = join(directory, "drop.log");
    const sink = createLogFileSink(path, { format: "json", maxWaiting: 10 });
    for (let index = 0; index < 10; index++) sink.write("123456\n");
    await sink.close();
    const lines = readFileSync(path, "utf8").trim().split("\n");
    expect(lines.slice(0, 2)).toEqual(["123456", "123456"]);
    expect(lines.slice(2).map(droppedOf)).toEqual([8]);
  });

  it.skipIf(process.platform !== "linux")(
    "on a full disk does not disturb the program (/dev/full is on Linux)",
    async () => {
      const problems: string[] = [];
      const sink = createLogFileSink("/dev/full", { format: "json", onProblem: (problem) => problems.push(problem) });
      sink.write("lost\n");
      await new Promise((resolve) => setImmediate(resolve));
      sink.write("lost\n");
      await sink.close();
      sink.write("after the end\n");
      expect(problems).toEqual([
        "/dev/full: the log cannot be written: ENOSPC: no space left on device, write",
        "/dev/full: 2 lines of the log are lost",
      ]);
    },
  );

  it("that cannot be opened is an error at once", () => {
    expect(() => createLogFileSink(join(directory, "none", "x.log"), { format: "text" })).toThrow("ENOENT");
  });
});

describe("a log to a pipe", () => {
  /** One descriptor for both ends, so that the pipe always has a reader. */
  const openPipe = (name: string) => {
    const path = join(directory, name);
    execFileSync("mkfifo", [path]);
    return { path, fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK) };
  };
  const readAll = (fd: number) => {
    const chunks: Buffer[] = [];
    const chunk = Buffer.alloc(65_536);
    try {
      for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
        chunks.push(Buffer.from(chunk.subarray(0, count)));
      }
    } catch {
      // EAGAIN: it is empty.
    }
    return Buffer.concat(chunks).toString();
  };

  it("that is not read drops lines and never blocks, and delivers whole lines once it is read", () => {
    const { path, fd } = openPipe("slow");
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const sink = createPipeSink(fd, "json", 1000);
    const line = `${"x".repeat(99)}\n`;
    for (let index = 0; index < 5000; index++) sink.write(line);
    let text = readAll(reader);
    void sink.close();
    text += readAll(reader);
    closeSync(reader);
    const lines = text.trimEnd().split("\n");
    const full = lines.filter((one) => `${one}\n` === line).length;
    expect(full).toBeLessThan(5000);
    expect(lines.filter((one) => one.startsWith("x")).length).toBe(full);
    expect(droppedOf(lines.at(-1) ?? "")).toBe(5000 - full);
  });

  it("drops lines once its reader is gone", () => {
    const { path, fd } = openPipe("gone");
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    closeSync(fd);
    closeSync(reader);
    const sink = createPipeSink(writer, "text");
    sink.write("lost\n");
    sink.write("lost\n");
    void sink.close();
  });
});

describe("a log to a stream", () => {
  it("drops lines that a slow reader does not accept, and reports how many", async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    const sink = createStreamSink(stream, "json", 20);
    for (let index = 0; index < 10; index++) sink.write("123456789\n");
    const taken: Buffer[] = [];
    stream.on("data", (bytes: Buffer) => taken.push(bytes));
    await sink.close();
    sink.write("next\n");
    stream.end();
    await new Promise((resolve) => stream.once("end", resolve));
    const lines = Buffer.concat(taken).toString().trim().split("\n");
    const full = lines.filter((line) => line === "123456789").length;
    expect(full).toBeLessThan(10);
    expect(droppedOf(lines.at(-2) ?? "")).toBe(10 - full);
    expect(lines.at(-1)).toBe("next");
  });

  it("ignores lines once the stream is destroyed", async () => {
    const stream = new PassThrough();
    const sink = createStreamSink(stream, "text");
    stream.destroy(new Error("EPIPE"));
    await new Promise((resolve) => stream.once("close", resolve));
    sink.write("line\n");
    await sink.close();
  });
});
