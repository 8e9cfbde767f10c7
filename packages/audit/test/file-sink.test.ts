import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseRecord } from "../src/chain.js";
import { type AuditEvent, createAuditLog, createFileSink, verifyAuditFiles } from "../src/index.js";
import { MAX_AUDIT_QUEUE } from "../src/limits.js";

let base: string;
let appender: string;
let file: string;
let count = 0;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "codex-audit-"));
  appender = join(base, "appender.mjs");
  const source = fileURLToPath(new URL("./programs/audit-appender.ts", import.meta.url));
  await build({ entryPoints: [source], outfile: appender, bundle: true, platform: "node", format: "esm" });
});
beforeEach(() => {
  file = join(base, `log${++count}`, "audit.jsonl");
});
afterAll(() => rm(base, { recursive: true, force: true }));

const event = (call: string): AuditEvent => ({ type: "result", call, status: "success" });

function open(options: Parameters<typeof createFileSink>[1] = {}) {
  const problems: string[] = [];
  const log = createAuditLog({ sink: createFileSink(file, options), onProblem: (message) => problems.push(message) });
  return { log, problems };
}

const append = async (...calls: string[]) => {
  const { log } = open();
  for (const call of calls) await log.record(event(call));
};

const records = async () =>
  (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => parseRecord(line));

async function runAppender(shell: string, ...args: string[]) {
  const child = spawn("/bin/sh", ["-c", shell, "sh", process.execPath, appender, ...args], { stdio: "pipe" });
  let output = "";
  child.stdout.on("data", (bytes) => (output += String(bytes)));
  child.stderr.on("data", (bytes) => (output += String(bytes)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

describe("a log in a file", () => {
  it("is created with mode 600, and appended to in order", async () => {
    const { log } = open();
    await Promise.all(["a", "b", "c"].map((call) => log.record(event(call))));
    await append("d");
    expect((await records()).map((record) => record?.call)).toEqual(["a", "b", "c", "d"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await verifyAuditFiles(file)).toMatchObject({ check: { kind: "intact", records: 4 } });
    await chmod(file, 0o644);
    await append("e");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("stays one chain when two processes append at once, and leaves no lock", async () => {
    const ends = await Promise.all(["a", "b"].map((name) => runAppender('exec "$@"', file, "60", name)));
    expect(ends).toEqual([
      { code: 0, output: "" },
      { code: 0, output: "" },
    ]);
    const calls = (await records()).map((record) => String(record?.call));
    expect(calls).toHaveLength(120);
    for (const name of ["a", "b"]) {
      const own = calls.filter((call) => call.startsWith(name));
      expect(own).toEqual(Array.from({ length: 60 }, (_, index) => `${name}${index}`));
    }
    expect(await verifyAuditFiles(file)).toMatchObject({ check: { kind: "intact", records: 120 } });
    expect(await readdir(join(file, ".."))).toEqual(["audit.jsonl", "audit.jsonl.head"]);
  });

  it("reports an incomplete last record, and continues after a marker", async () => {
    await append("a", "b");
    const { size } = await stat(file);
    await truncate(file, size - 20);
    expect(await verifyAuditFiles(file)).toMatchObject({
      check: { kind: "broken", line: 2, reason: expect.stringMatching(/ends in the middle of a record \(\d+ bytes/) },
    });
    await rm(`${file}.head`);
    await append("c");
    const types = (await records()).map((record) => record?.type);
    expect(types).toEqual(["result", undefined, "torn", "result"]);
    expect(await verifyAuditFiles(file)).toMatchObject({ check: { kind: "intact", records: 3, torn: 1 } });
  });

  it("marks an incomplete first record", async () => {
    await append("a");
    await truncate(file, 30);
    await rm(`${file}.head`);
    await append("b");
    expect(await verifyAuditFiles(file)).toMatchObject({ check: { kind: "intact", records: 2, torn: 1 } });
  });

  it("reports the loss of its end, permanently once it is appended to", async () => {
    await append("a", "b", "c");
    const [first = ""] = (await readFile(file, "utf8")).split("\n");
    await writeFile(file, `${first}\n`);
    const gone = /ends with record 1, and record 3/;
    expect((await verifyAuditFiles(file)).check).toMatchObject({ kind: "broken", reason: expect.stringMatching(gone) });
    await append("d");
    expect((await records()).map((record) => record?.type)).toEqual(["result", "gap", "result"]);
    expect((await verifyAuditFiles(file)).check).toMatchObject({
      kind: "broken",
      line: 2,
      reason: expect.stringMatching(/had lost its end: it had gone up to record 3/),
    });
  });

  it("reports the loss of the whole file", async () => {
    await append("a");
    await rm(file);
    await append("b");
    expect((await records())[0]).toMatchObject({ type: "gap", lastSeq: 1 });
  });

  it("does not append to a file that is not an audit log", async () => {
    await append("a");
    await writeFile(file, "notes of mine\n");
    const { log, problems } = open();
    await expect(log.record(event("b"))).rejects.toThrow("there is no audit record at its end");
    expect(problems).toHaveLength(1);
    expect(await readFile(file, "utf8")).toBe("notes of mine\n");
  });

  it("is rotated when it is full, and the chain continues in the new file", async () => {
    const { log } = open({ maxBytes: 600 });
    for (let index = 0; index < 10; index++) await log.record(event(`c${index}`));
    const { check, files } = await verifyAuditFiles(file);
    expect(files.length).toBeGreaterThan(2);
    expect(check).toMatchObject({ kind: "intact", records: 10 + files.length - 1 });
    for (const one of files) expect((await stat(one)).size).toBeLessThanOrEqual(600);
    const [oldest = "", second = ""] = files;
    await rm(oldest);
    expect((await verifyAuditFiles(file)).check.kind).toBe("intact");
    await rm(second);
    expect((await verifyAuditFiles(file)).check.kind).toBe("intact");
    const [last = ""] = (await verifyAuditFiles(file)).files;
    await appendFile(last, "x\n");
    expect((await verifyAuditFiles(file)).check.kind).toBe("broken");
  });

  it("follows no link that a command has put in its place, reports it once, and counts what it lost", async () => {
    await append("a");
    await rm(file);
    await writeFile(`${file}.mine`, "mine");
    await symlink(`${file}.mine`, file);
    const { log, problems } = open();
    for (const call of ["b", "c"]) await expect(log.record(event(call))).rejects.toThrow(/is a symbolic link to/);
    expect(problems).toEqual([expect.stringMatching(/^the audit log cannot be written: .*is a symbolic link to/)]);
    expect(await readFile(`${file}.mine`, "utf8")).toBe("mine");
    await rm(file);
    await rm(`${file}.head`);
    await log.record(event("d"));
    expect((await records()).map((record) => [record?.type, record?.records])).toEqual([
      ["lost", 2],
      ["result", undefined],
    ]);
    expect((await verifyAuditFiles(file)).check).toMatchObject({ kind: "intact", lost: 2 });
  });

  it("removes a partially written record", async () => {
    await append("a");
    const before = await readFile(file);
    // Files of this process may have 512 bytes: the write stops in the middle.
    const { code, output } = await runAppender('ulimit -f 1; exec "$@"', file, "9", "b");
    expect(code).toBe(1);
    expect(output).toMatch(/the audit log cannot be written: \/.*: EFBIG/);
    const after = await readFile(file);
    expect(after.subarray(0, before.length)).toEqual(before);
    expect(after.at(-1)).toBe(0x0a);
    expect((await verifyAuditFiles(file)).check.kind).toBe("intact");
  });

  it("bounds the number of queued records", async () => {
    const { log } = open();
    const written = Array.from({ length: MAX_AUDIT_QUEUE + 5 }, () => log.record(event("a")));
    const ends = await Promise.allSettled(written);
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(5);
    expect((await verifyAuditFiles(file)).check).toMatchObject({ kind: "intact", lost: 5 });
  });
});
