import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toFileUrl } from "@codex/exec-server-protocol";
import { findSmallDiskProblem, openSmallDisk, type SmallDisk } from "@codex/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { base64, callFiles, useFiles } from "../support.js";

const files = useFiles();
const LOOP = { code: -32603, message: expect.stringContaining("Symbolic link loop (os error ") };
const MISSING = { code: -32004, message: expect.stringContaining("No such file or directory (os error 2)") };
const NO_DIRECTORY = { code: -32603, message: expect.stringContaining("Not a directory (os error 20)") };
const notAFile = (path: string) => ({ code: -32600, message: `path \`${path}\` is not a file` });

describe("readFile", () => {
  it("reads files of every size", async () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 1_000_000]) {
      const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
      writeFileSync(files.path("big"), bytes);
      expect(await files.call("readFile", { path: files.url("big") })).toEqual({
        dataBase64: bytes.toString("base64"),
      });
    }
  });

  it("follows links, unless told not to", async () => {
    symlinkSync("sub", files.path("dlink"));
    expect(await files.call("readFile", { path: files.url("link") })).toEqual({ dataBase64: base64("hello") });
    expect(await files.call("readFile", { path: files.url("link"), followSymlinks: false })).toEqual(LOOP);
    expect(await files.call("readFile", { path: files.url("dangling") })).toEqual(MISSING);
    expect(await files.call("readFile", { path: files.url("dangling"), followSymlinks: false })).toEqual(LOOP);
    expect(await files.call("readFile", { path: files.url("dlink/g.txt"), followSymlinks: false })).toEqual(
      NO_DIRECTORY,
    );
    const plain = { path: files.url("sub/g.txt"), followSymlinks: false };
    expect(await files.call("readFile", plain)).toEqual({ dataBase64: base64("g") });
  });

  it("refuses what is no regular file, and blocks on none", async () => {
    execFileSync("mkfifo", [files.path("fifo")]);
    for (const name of ["sub", "fifo"]) {
      expect(await files.call("readFile", { path: files.url(name) })).toEqual(notAFile(files.path(name)));
      expect(await files.call("readFile", { path: files.url(name), followSymlinks: false })).toEqual(
        notAFile(files.path(name)),
      );
    }
    for (const device of ["/dev/null", "/dev/zero"]) {
      expect(await files.call("readFile", { path: `file://${device}` })).toEqual(notAFile(device));
    }
    const server = createServer().listen(files.path("socket"));
    await once(server, "listening");
    expect(await files.call("readFile", { path: files.url("socket") })).toHaveProperty("code", -32603);
    await new Promise((resolve) => server.close(resolve));
    expect(await files.call("readFile", { path: files.url("f.txt/x") })).toEqual(NO_DIRECTORY);
  });

  it.runIf(process.platform === "linux")("reads files of /proc, whose size is 0", async () => {
    const answer = await files.call("readFile", { path: "file:///proc/self/cmdline" });
    expect(answer).toEqual({ dataBase64: readFileSync("/proc/self/cmdline").toString("base64") });
  });

  it("refuses more than the limit, and accepts exactly the limit", async () => {
    const connection = files.connect({ maxReadFileBytes: 5 });
    expect(await callFiles(connection, "readFile", { path: files.url("f.txt") })).toEqual({
      dataBase64: base64("hello"),
    });
    appendFileSync(files.path("f.txt"), "!");
    const problem = { code: -32600, message: "file is too large to read: limit is 5 bytes" };
    expect(await callFiles(connection, "readFile", { path: files.url("f.txt") })).toEqual(problem);
  });

  it.runIf(process.platform === "linux")("refuses a file whose size is 0 and whose content is too large", async () => {
    const connection = files.connect({ maxReadFileBytes: 5 });
    const problem = { code: -32600, message: "file is too large to read: limit is 5 bytes" };
    expect(await callFiles(connection, "readFile", { path: "file:///proc/self/stat" })).toEqual(problem);
  });

  it("refuses a sparse file of 513 MiB by its size", async () => {
    writeFileSync(files.path("sparse"), "");
    truncateSync(files.path("sparse"), 513 * 1024 * 1024);
    const problem = { code: -32600, message: "file is too large to read: limit is 536870912 bytes" };
    expect(await files.call("readFile", { path: files.url("sparse") })).toEqual(problem);
  });

  it.runIf(process.platform === "linux")("reads a name that is not UTF-8", async () => {
    writeFileSync(Buffer.concat([Buffer.from(files.path("bad")), Buffer.from([0xff])]), "x");
    expect(await files.call("readFile", { path: `${files.url("bad")}%FF` })).toEqual({ dataBase64: base64("x") });
  });
});

describe("writeFile", () => {
  const write = (name: string, text: string, more = {}) =>
    files.call("writeFile", { path: files.url(name), dataBase64: base64(text), ...more });

  it("creates, truncates and overwrites", async () => {
    expect(await write("new", "12345")).toEqual({});
    expect(await write("new", "ab")).toEqual({});
    expect(readFileSync(files.path("new"), "utf8")).toBe("ab");
    expect(await write("new", "")).toEqual({});
    expect(statSync(files.path("new")).size).toBe(0);
    expect(statSync(files.path("new")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("sets permissions where asked to", async () => {
    expect(await write("new", "1", { mode: 0o750 })).toEqual({});
    expect(statSync(files.path("new")).mode & 0o7777).toBe(0o750);
    expect(await write("new", "2", { mode: 0o640 })).toEqual({});
    expect(statSync(files.path("new")).mode & 0o7777).toBe(0o640);
    expect(await write("new", "3")).toEqual({});
    expect(statSync(files.path("new")).mode & 0o7777).toBe(0o640);
    expect(await write("new", "4", { mode: 0o10000 })).toMatchObject({ code: -32602 });
    expect(readFileSync(files.path("new"), "utf8")).toBe("3");
  });

  it("writes through links in place, unless told not to", async () => {
    const { ino } = statSync(files.path("f.txt"));
    expect(await write("link", "through")).toEqual({});
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("through");
    expect(statSync(files.path("f.txt")).ino).toBe(ino);
    expect(await write("dangling", "made")).toEqual({});
    expect(readFileSync(files.path("missing"), "utf8")).toBe("made");
    expect(lstatSync(files.path("dangling")).isSymbolicLink()).toBe(true);
    for (const name of ["link", "dangling"]) expect(await write(name, "no", { followSymlinks: false })).toEqual(LOOP);
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("through");
    symlinkSync("sub", files.path("dlink"));
    expect(await write("dlink/w", "no", { followSymlinks: false })).toEqual(NO_DIRECTORY);
    expect(existsSync(files.path("sub/w"))).toBe(false);
    expect(await write("sub/w", "yes", { followSymlinks: false })).toEqual({});
    expect(readFileSync(files.path("sub/w"), "utf8")).toBe("yes");
  });

  it("keeps the file the same one where the old content is kept meanwhile", async () => {
    const inode = (name: string) => statSync(files.path(name)).ino;
    const before = inode("f.txt");
    const reader = openSync(files.path("f.txt"), "r");
    for (const text of ["through a link", "t", "", "longer than before"]) {
      expect(await write("link", text, { atomic: true })).toEqual({});
      expect(readFileSync(files.path("f.txt"), "utf8")).toBe(text);
      expect(readFileSync(`/dev/fd/${reader}`, "utf8")).toBe(text);
    }
    closeSync(reader);
    expect(inode("f.txt")).toBe(before);
    expect(lstatSync(files.path("link")).isSymbolicLink()).toBe(true);
    expect(await write("dangling", "made", { atomic: true, mode: 0o640 })).toEqual({});
    expect(statSync(files.path("missing")).mode & 0o7777).toBe(0o640);
    expect(await write("missing", "kept", { atomic: true })).toEqual({});
    expect(statSync(files.path("missing")).mode & 0o7777).toBe(0o640);
    chmodSync(files.path("missing"), 0o6755);
    expect(await write("missing", "kept too", { atomic: true })).toEqual({});
    expect(statSync(files.path("missing")).mode & 0o7777).toBe(0o6755);
    expect(await write("new", "1", { atomic: true })).toEqual({});
    expect(statSync(files.path("new")).mode & 0o777).toBe(0o666 & ~process.umask());
    linkSync(files.path("new"), files.path("hard"));
    expect(await write("hard", "2", { atomic: true })).toEqual({});
    expect(readFileSync(files.path("new"), "utf8")).toBe("2");
    expect(inode("hard")).toBe(inode("new"));
    expect(await files.call("writeFile", { path: "file:///dev/null", dataBase64: base64("x"), atomic: true })).toEqual(
      {},
    );
    expect(await write("sub", "x", { atomic: true })).toHaveProperty("code", -32603);
    expect(await write("nodir/x", "x", { atomic: true })).toHaveProperty("code", -32004);
    expect(await write("link", "no", { atomic: true, followSymlinks: false })).toEqual(LOOP);
    expect(leftovers()).toEqual([]);
  });

  it("overwrites nothing but what is expected", async () => {
    const changed = (name: string) => ({
      code: -32011,
      message: `something else changed \`${files.path(name)}\` in the meantime`,
    });
    const hash = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
    const expecting = (name: string, text: string, expected: string) => write(name, text, { atomic: true, expected });
    expect(await expecting("link", "x", hash("Hello"))).toEqual(changed("f.txt"));
    expect(await expecting("f.txt", "x", "missing")).toEqual(changed("f.txt"));
    expect(await expecting("new", "x", hash(""))).toEqual(changed("new"));
    expect(existsSync(files.path("new"))).toBe(false);
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("hello");
    expect(await expecting("link", "1", hash("hello"))).toEqual({});
    expect(await expecting("new", "2", "missing")).toEqual({});
    expect(await expecting("dangling", "3", "missing")).toEqual({});
    const contents = ["f.txt", "new", "missing"].map((name) => readFileSync(files.path(name), "utf8"));
    expect(contents).toEqual(["1", "2", "3"]);
    expect(await expecting("f.txt", "x", "1")).toHaveProperty("code", -32602);
    expect(leftovers()).toEqual([]);
  });

  it("lets no writer overwrite what another one has written since it looked, nor mix with it", async () => {
    const path = files.path("f.txt");
    writeFileSync(path, "");
    const append = async (connection: typeof files.connection, name: string) => {
      let count = 0;
      for (let turn = 0; turn < 100; turn += 1) {
        const old = readFileSync(path);
        const expected = `sha256:${createHash("sha256").update(old).digest("hex")}`;
        const dataBase64 = Buffer.concat([old, Buffer.from(`${name}${turn}\n`)]).toString("base64");
        const params = { path: files.url("f.txt"), dataBase64, atomic: true, expected };
        const refused = (await callFiles(connection, "writeFile", params)) as { code?: number };
        if (refused.code === undefined) count += 1;
        else expect(refused.code).toBe(-32011);
      }
      return count;
    };
    const counts = await Promise.all([append(files.connection, "a"), append(files.connect(), "b")]);
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    expect(lines.filter((line) => !/^[ab]\d+$/.test(line))).toEqual([]);
    expect(new Set(lines).size).toBe(counts[0]! + counts[1]!);
    expect(leftovers()).toEqual([]);
  });

  it("keeps what a killed writer has left, and goes on without it", async () => {
    const name = `.codex-replace-${createHash("sha256").update("f.txt").digest("hex").slice(0, 16)}`;
    writeFileSync(files.path(name), "old content");
    expect(await write("f.txt", "new", { atomic: true })).toEqual({});
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("new");
    const left = leftovers();
    expect(left).not.toContain(name);
    expect(left.map((one) => readFileSync(files.path(one), "utf8"))).toEqual(["old content"]);
  });

  it("loses neither content when the process is killed", async () => {
    const [old, next] = ["a".repeat(3_000_000), "b".repeat(2_000_000)];
    for (let kill = 0; kill < 8; kill += 1) {
      writeFileSync(files.path("f.txt"), old);
      const child = spawn(process.execPath, [REWRITE, files.path("f.txt"), old[0]!, next[0]!], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data"); // it has written once, and goes on
      child.kill("SIGKILL");
      await once(child, "close");
      const found = readdirSync(files.root)
        .filter((name) => name === "f.txt" || name.startsWith(".codex-replace"))
        .map((name) => readFileSync(files.path(name), "utf8"));
      expect(found.some((text) => text === old || text === next)).toBe(true);
      for (const name of leftovers()) rmSync(files.path(name));
    }
  });

  it("reports what prevents a write, with code and path", async () => {
    expect(await write("nodir/x", "x")).toEqual({
      code: -32004,
      message: `No such file or directory (os error 2): ${files.path("nodir/x")}`,
    });
    const directory = { code: -32603, message: `Is a directory (os error 21): ${files.path("sub")}` };
    expect(await write("sub", "x")).toEqual(directory);
    expect(await write("f.txt/x", "x")).toEqual(NO_DIRECTORY);
    symlinkSync("loop", files.path("loop"));
    expect(await write("loop", "x")).toEqual(LOOP);
  });

  it("writes to devices, but to no FIFO, with or without a reader", async () => {
    expect(await files.call("writeFile", { path: "file:///dev/null", dataBase64: base64("x") })).toEqual({});
    execFileSync("mkfifo", [files.path("fifo")]);
    expect(await write("fifo", "x")).toHaveProperty("code");
    const reader = openSync(files.path("fifo"), constants.O_RDONLY | constants.O_NONBLOCK);
    expect(await write("fifo", "x")).toEqual(notAFile(files.path("fifo")));
    closeSync(reader);
  });

  it.runIf(process.platform === "linux")("reports a full device", async () => {
    const full = { code: -32603, message: "No space left on device (os error 28): /dev/full" };
    expect(await files.call("writeFile", { path: "file:///dev/full", dataBase64: base64("x") })).toEqual(full);
  });

  it("refuses invalid base64 before it touches the file", async () => {
    const answer = await files.call("writeFile", { path: files.url("f.txt"), dataBase64: "***" });
    expect(answer).toMatchObject({ code: -32600, message: expect.stringContaining("Invalid symbol 42, offset 0.") });
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("hello");
  });
});

const leftovers = () => readdirSync(files.root).filter((name) => name.startsWith(".codex"));

/** Writes a file in turns with 3,000,000 of one letter and 2,000,000 of another. */
const REWRITE = fileURLToPath(new URL("./programs/rewrite.mjs", import.meta.url));

describe("createDirectory", () => {
  const create = (name: string, more = {}) => files.call("createDirectory", { path: files.url(name), ...more });
  const EXISTS = { code: -32603, message: expect.stringContaining("File exists (os error 17)") };

  it("creates parents by default, and accepts an existing directory", async () => {
    expect(await create("x/y/z")).toEqual({});
    expect(await create("x/y/z")).toEqual({});
    expect(await create("x/y/z", { recursive: false })).toEqual(EXISTS);
    expect(await create("x2/y", { recursive: false })).toEqual(MISSING);
    expect(await create("f.txt")).toEqual(EXISTS);
    expect(await create("f.txt/x")).toEqual(NO_DIRECTORY);
  });

  it("follows no link with followSymlinks: false", async () => {
    symlinkSync("sub", files.path("dlink"));
    expect(await create("n/o", { followSymlinks: false })).toEqual({});
    expect(statSync(files.path("n/o")).isDirectory()).toBe(true);
    expect(await create("dlink/new", { followSymlinks: false })).toEqual(NO_DIRECTORY);
    expect(await create("dlink", { followSymlinks: false })).toEqual(NO_DIRECTORY);
    expect(await create("dlink/new", { followSymlinks: false, recursive: false })).toEqual(NO_DIRECTORY);
    expect(existsSync(files.path("sub/new"))).toBe(false);
    expect(await create("dlink/new")).toEqual({});
    expect(existsSync(files.path("sub/new"))).toBe(true);
  });
});

describe("order", () => {
  it("pipelined calls take effect in the order they were sent", async () => {
    const answers: Promise<unknown>[] = [];
    for (let round = 0; round < 50; round += 1) {
      const path = files.url("turn");
      answers.push(files.call("writeFile", { path, dataBase64: base64(`round ${round}`) }));
      answers.push(files.call("readFile", { path }), files.call("readFile", { path }));
      answers.push(files.call("remove", { path, force: false }));
    }
    const results = await Promise.all(answers);
    for (let round = 0; round < 50; round += 1) {
      const content = { dataBase64: base64(`round ${round}`) };
      expect(results.slice(round * 4, round * 4 + 4)).toEqual([{}, content, content, {}]);
    }
  });

  it("a failure blocks nothing, and nothing runs after the end of the connection", async () => {
    const { connection } = files;
    const [first, second] = await Promise.all([
      files.call("createDirectory", { path: files.url("sub"), recursive: false }),
      files.call("createDirectory", { path: files.url("ok") }),
    ]);
    expect([first, second]).toEqual([expect.objectContaining({ code: -32603 }), {}]);
    await connection.dispose();
    await connection.dispose();
    const late = await callFiles(connection, "createDirectory", { path: files.url("late") });
    expect(late).toEqual({ code: -32603, message: "the connection is gone" });
    expect(existsSync(files.path("late"))).toBe(false);
  });
});

describe("sandbox", () => {
  const restricted = { type: "managed", file_system: { type: "restricted", entries: [] }, network: "restricted" };
  const sandbox = { permissions: restricted, windowsSandboxLevel: "disabled" };

  it.each([
    "readFile",
    "writeFile",
    "createDirectory",
    "getMetadata",
    "canonicalize",
    "readDirectory",
    "walk",
    "remove",
    "copy",
    "open",
  ])("fs/%s is refused rather than run without", async (method) => {
    const options = {
      maxDepth: 1,
      maxDirectories: 1,
      maxEntries: 1,
      followDirectorySymlinks: false,
      pruneHiddenDirectories: false,
    };
    const paths = { path: files.url("f.txt"), sourcePath: files.url("f.txt"), destinationPath: files.url("copy") };
    const params = { ...paths, dataBase64: "", recursive: true, handleId: "h", options, sandbox };
    const refusal = { code: -32603, message: expect.stringContaining("asks for a sandbox with permissions `managed`") };
    expect(await files.call(method, params)).toEqual(refusal);
    expect(readFileSync(files.path("f.txt"), "utf8")).toBe("hello");
    const off = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
    mkdirSync(files.path("dir"));
    const path = method === "createDirectory" || method === "readDirectory" ? files.url("dir") : params.path;
    expect(await files.call(method, { ...params, path, sandbox: off })).not.toHaveProperty("code");
  });
});

const noDisk = findSmallDiskProblem();
describe.skipIf(noDisk !== undefined)(`on a full disk (${noDisk ?? "of 16 pages"})`, () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await openSmallDisk(16 * 4096);
  });
  afterEach(() => disk.close());
  const full = { code: -32603, message: expect.stringContaining("No space left on device (os error 28)") };

  it.each([0, 1, 5000])("writeFile keeps the previous %d bytes", async (bytes) => {
    const file = join(disk.path, "f");
    writeFileSync(file, "a".repeat(bytes));
    disk.fill();
    const write = (text: string) => files.call("writeFile", { path: toFileUrl(file), dataBase64: base64(text) });
    expect(await write("b".repeat(100_000))).toMatchObject(full);
    expect(readFileSync(file, "utf8")).toBe("a".repeat(bytes));
    expect(await write("b".repeat(Math.floor(bytes / 2)))).toEqual({});
    expect(readFileSync(file, "utf8")).toBe("b".repeat(Math.floor(bytes / 2)));
    writeFileSync(file, "d".repeat(bytes)); // in place, with what is left
    disk.fill();
    const safely = { path: toFileUrl(file), dataBase64: base64("e".repeat(100_000)), atomic: true };
    expect(await files.call("writeFile", safely)).toMatchObject(full);
    expect(readFileSync(file, "utf8")).toBe("d".repeat(bytes));
    expect(readdirSync(disk.path).sort()).toEqual(["f", "filling"]);
    disk.free();
    expect(await write("c".repeat(9_000))).toEqual({});
    expect(readFileSync(file, "utf8")).toBe("c".repeat(9_000));
  });
});
