import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createKernel, type Kernel } from "@codex/native";
import { expect, it } from "vitest";
import { MAX_MOUNTS_BYTES } from "../../src/limits.js";
import { base64, callFiles, useFiles } from "../support.js";
import { connect, countFiles, isEverAnswered, kindOf, settle } from "./support.js";

const files = useFiles();
const kind = await kindOf(tmpdir());
const isAnswered = kind === "disk" || kind === "memory";
const HELLO = { dataBase64: base64("hello") };

it("returns undefined until the mounts are known", async () => {
  const pageCache = countFiles();
  const read = () => callFiles(connect(pageCache), "readFile", { path: files.url("f.txt") });
  expect(await read()).toEqual(HELLO);
  expect(pageCache.counts).toEqual({ asked: 1, answered: 0 });
  await pageCache.settled();
  expect(await isEverAnswered(pageCache, isAnswered, read)).toBe(isAnswered);
  await pageCache.close();
  await pageCache.close();
  const { answered } = pageCache.counts;
  expect(await read()).toEqual(HELLO);
  expect(pageCache.counts.answered).toBe(answered);
});

it("returns undefined where the kernel lacks the system calls", async () => {
  const pageCache = countFiles({ createKernel: () => undefined });
  for (let time = 0; time < 2; time += 1) {
    await settle(pageCache, files.root);
    expect(await callFiles(connect(pageCache), "readFile", { path: files.url("f.txt") })).toEqual(HELLO);
  }
  expect(pageCache.counts.answered).toBe(0);
  await pageCache.close();
});

it.runIf(process.platform === "linux").each([
  ["one byte too many", MAX_MOUNTS_BYTES, false],
  ["as many as fit", MAX_MOUNTS_BYTES - 1, kind !== undefined],
])("a list of mounts of %s", async (_what, bytes, expected) => {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  writeFileSync(files.path("mounts"), mounts.padEnd(bytes, "\n"));
  const pageCache = countFiles({ mountInfo: files.path("mounts") });
  await settle(pageCache, files.root);
  const ask = () => callFiles(connect(pageCache), "getMetadata", { path: files.url("f.txt") });
  expect(await isEverAnswered(pageCache, expected, ask)).toBe(expected);
  await pageCache.close();
});

it.runIf(isAnswered)("looks up the root mount again after a failed attempt", async () => {
  let looks = 0;
  const createBlinking = () => {
    const kernel = createKernel();
    const find: Kernel["find"] = (path, way) => (path === "/" && looks++ === 0 ? undefined : kernel?.find(path, way));
    return kernel === undefined ? undefined : { ...kernel, find };
  };
  const pageCache = countFiles({ createKernel: createBlinking });
  await settle(pageCache, files.root);
  const read = () => callFiles(connect(pageCache), "readFile", { path: files.url("f.txt") });
  expect(await isEverAnswered(pageCache, true, read)).toBe(true);
  await pageCache.close();
});

it("returns undefined where the mounts cannot be read", async () => {
  const pageCache = countFiles({ mountInfo: files.path("no such file") });
  await settle(pageCache, files.root);
  expect(await callFiles(connect(pageCache), "readFile", { path: files.url("f.txt") })).toEqual(HELLO);
  expect(pageCache.counts.answered).toBe(0);
  await pageCache.close();
});

const CAN_MOUNT = createKernel() !== undefined && spawnSync("unshare", ["--mount", "true"]).status === 0;

it.runIf(CAN_MOUNT)("reads the mounts again before it serves a file system mounted later", async () => {
  const pageCache = countFiles();
  await settle(pageCache, files.root);
  mkdirSync(files.path("mounted"));
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", files.path("mounted")]);
  try {
    writeFileSync(files.path("mounted/f"), "hello");
    const before = pageCache.counts.answered;
    const read = () => callFiles(connect(pageCache), "readFile", { path: files.url("mounted/f") });
    expect(await read()).toEqual(HELLO);
    expect(pageCache.counts.answered).toBe(before);
    await pageCache.settled();
    expect(await isEverAnswered(pageCache, true, async () => expect(await read()).toEqual(HELLO))).toBe(true);
  } finally {
    execFileSync("umount", [files.path("mounted")]);
    await pageCache.close();
  }
});

it("pipelined calls take effect in the order they were sent", async () => {
  const pageCache = countFiles();
  await settle(pageCache, files.root);
  const connection = connect(pageCache);
  const path = files.url("turn");
  const answers: Promise<unknown>[] = [];
  for (let round = 0; round < 50; round += 1) {
    const write = { path, dataBase64: base64(`round ${round}`.padEnd(round * 10)) };
    answers.push(callFiles(connection, "writeFile", write));
    answers.push(callFiles(connection, "readFile", { path }), callFiles(connection, "getMetadata", { path }));
    answers.push(callFiles(connection, "remove", { path, force: false }));
  }
  const results = await Promise.all(answers);
  for (let round = 0; round < 50; round += 1) {
    const content = `round ${round}`.padEnd(round * 10);
    const [wrote, read, metadata, removed] = results.slice(round * 4, round * 4 + 4);
    expect([wrote, read, removed]).toEqual([{}, { dataBase64: base64(content) }, {}]);
    expect(metadata).toMatchObject({ size: content.length });
  }
  expect(pageCache.counts.asked).toBe(1);
  await connection.dispose();
  await pageCache.close();
});

it("a connection sees the files it is replacing, and nothing after its end", async () => {
  const pageCache = countFiles();
  await settle(pageCache, files.root);
  const connection = connect(pageCache);
  const call = (method: string, params: object) => callFiles(connection, method, params);
  const path = files.url("f.txt");
  await call("open", { handleId: "h", path, mode: "replace" });
  await call("writeBlock", { handleId: "h", offset: 0, chunk: base64("new") });
  expect(await call("readFile", { path })).toEqual({ dataBase64: base64("new") });
  expect(await callFiles(connect(pageCache), "readFile", { path })).toEqual(HELLO);
  await connection.dispose();
  const answered = pageCache.counts.answered;
  expect(await call("readFile", { path })).toEqual({ code: -32603, message: "the connection is gone" });
  expect(pageCache.counts.answered).toBe(answered);
  await pageCache.close();
});

it("a call with a sandbox is never served from the page cache", async () => {
  const pageCache = countFiles();
  await settle(pageCache, files.root);
  const { asked } = pageCache.counts;
  const sandbox = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
  expect(await callFiles(connect(pageCache), "readFile", { path: files.url("f.txt"), sandbox })).toEqual(HELLO);
  expect(pageCache.counts.asked).toBe(asked);
  await pageCache.close();
});

it("a file that is replaced concurrently is read as one or the other", async () => {
  const pageCache = countFiles();
  await settle(pageCache, files.root);
  const connection = connect(pageCache);
  const contents = ["one".repeat(1000), "other".repeat(3000)];
  const seen = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    writeFileSync(files.path("next"), contents[round % 2]!);
    const answers = [1, 2, 3].map(() => callFiles(connection, "readFile", { path: files.url("exchanged") }));
    renameSync(files.path("next"), files.path("exchanged"));
    for (const answer of await Promise.all(answers)) seen.add(JSON.stringify(answer));
  }
  const whole = contents.map((text) => JSON.stringify({ dataBase64: base64(text) }));
  const missing = `{"code":-32004,"message":"No such file or directory (os error 2): ${files.path("exchanged")}"}`;
  expect([...seen].filter((answer) => answer !== missing).sort()).toEqual(whole.sort());
  await pageCache.close();
});
