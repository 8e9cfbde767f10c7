import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, linkSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { MAX_CACHED_READ_BYTES } from "@codex/native";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callFiles, useFiles } from "../support.js";
import { type CountedFiles, connect, countFiles, isEverAnswered, kindOf, settle } from "./support.js";

const files = useFiles();
const kind = await kindOf(tmpdir());
const IS_ROOT = process.getuid?.() === 0;
let pageCache: CountedFiles;
let socket: ReturnType<typeof createServer>;

beforeEach(async () => {
  writeFileSync(files.path("empty.txt"), "");
  writeFileSync(files.path("fits"), Buffer.alloc(MAX_CACHED_READ_BYTES, "f"));
  writeFileSync(files.path("too much"), Buffer.alloc(MAX_CACHED_READ_BYTES + 1, "t"));
  writeFileSync(files.path("sparse"), "");
  truncateSync(files.path("sparse"), 5000);
  writeFileSync(Buffer.concat([Buffer.from(files.path("bad")), Buffer.from([0xff])]), "no text");
  writeFileSync(files.path("old"), "old");
  execFileSync("touch", ["-t", "196001020304", files.path("old")]);
  writeFileSync(files.path("denied"), "secret");
  chmodSync(files.path("denied"), 0);
  writeFileSync(files.path("special"), "bits");
  chmodSync(files.path("special"), 0o6751);
  mkdirSync(files.path("closed"));
  writeFileSync(files.path("closed/f"), "f");
  chmodSync(files.path("closed"), 0);
  linkSync(files.path("f.txt"), files.path("hard"));
  symlinkSync("sub", files.path("dlink"));
  symlinkSync("link", files.path("link2"));
  symlinkSync("loop", files.path("loop"));
  symlinkSync("/proc/self/cmdline", files.path("to-proc"));
  execFileSync("mkfifo", [files.path("fifo")]);
  socket = createServer().listen(files.path("socket"));
  await once(socket, "listening");
  pageCache = countFiles();
  await settle(pageCache, files.root);
});
afterEach(async () => {
  chmodSync(files.path("closed"), 0o700);
  await new Promise((resolve) => socket.close(resolve));
  await pageCache.close();
});

/** What is in the folder of the test, and which calls are answered without waiting where it lies on a disk. */
const CASES: readonly [name: string, pageCache: { read: boolean; metadata: boolean }][] = [
  ["f.txt", { read: true, metadata: true }],
  ["hard", { read: true, metadata: true }],
  ["link", { read: true, metadata: true }],
  ["link2", { read: true, metadata: true }],
  ["dlink/g.txt", { read: true, metadata: true }],
  ["empty.txt", { read: true, metadata: true }],
  ["fits", { read: true, metadata: true }],
  ["too much", { read: false, metadata: true }],
  ["bad%FF", { read: true, metadata: true }],
  ["special", { read: true, metadata: true }],
  ["old", { read: false, metadata: false }],
  ["sub", { read: false, metadata: true }],
  ["dlink", { read: false, metadata: true }],
  ["fifo", { read: false, metadata: true }],
  ["socket", { read: false, metadata: true }],
  ["to-proc", { read: false, metadata: false }],
  ["dangling", { read: false, metadata: false }],
  ["missing", { read: false, metadata: false }],
  ["loop", { read: false, metadata: false }],
  ["f.txt/x", { read: false, metadata: false }],
  ["x".repeat(256), { read: false, metadata: false }],
  ["y/".repeat(2100), { read: false, metadata: false }],
  ["sub/", { read: false, metadata: true }],
  ["f.txt/", { read: true, metadata: true }],
  ["sub/..%2Ff.txt", { read: true, metadata: true }],
  ["sub/%2e%2e/f.txt", { read: true, metadata: true }],
];

const CALLS = [
  ["readFile", {}],
  ["readFile", { followSymlinks: false }],
  ["getMetadata", {}],
  ["getMetadata", { extended: true }],
  ["getMetadata", { followSymlinks: false }],
  ["getMetadata", { followSymlinks: false, extended: true }],
] as const;

/** Of a name that has its escapes already. */
const urlOf = (name: string): string => `${files.url("")}/${name.replace(" ", "%20")}`;

async function expectSame(url: string): Promise<void> {
  for (const [method, options] of CALLS) {
    const params = { path: url, ...options };
    const waited = await callFiles(files.connection, method, params);
    expect(await callFiles(connect(pageCache), method, params), `${method} ${JSON.stringify(params)}`).toEqual(waited);
  }
}

describe("a call has the same result from the page cache and from the thread pool", () => {
  it.each(CASES.map(([name]) => name))("%s", async (name) => {
    await expectSame(urlOf(name));
  });

  it("a sparse file, whose holes are not cached until they are read", () => expectSame(files.url("sparse")));

  it
    .runIf(process.platform === "linux")
    .each([
      "/",
      "/dev/null",
      "/dev/zero",
      "/dev/fd",
      "/proc/self/cmdline",
      "/proc/self/root",
      "/proc/self/exe",
      "/proc/self/root/etc/passwd",
      "/proc/version",
      "/proc/sys/kernel/ostype",
      "/sys",
      "/sys/kernel",
      "/etc/passwd",
      "/etc/mtab",
    ])("%s", (path) => expectSame(`file://${path}`));

  it.runIf(process.platform === "linux")(
    "a file without read permission, or below a directory without search permission",
    async () => {
      if (IS_ROOT) chmodSync(files.root, 0o755);
      const before = process.geteuid?.() ?? 0;
      try {
        if (IS_ROOT) process.seteuid?.(65_534);
        expect(await callFiles(connect(pageCache), "readFile", { path: files.url("denied") })).toEqual({
          code: -32600,
          message: `Permission denied (os error 13): ${files.path("denied")}`,
        });
        for (const name of ["denied", "closed", "closed/f"]) await expectSame(files.url(name));
      } finally {
        process.seteuid?.(before);
      }
    },
  );
});

it.runIf(kind === "disk" || kind === "memory").each(CASES)(
  "%s is answered without waiting: %o",
  async (name, expected) => {
    const url = urlOf(name);
    const ask = (method: string, likely: boolean) =>
      isEverAnswered(pageCache, likely, () => callFiles(connect(pageCache), method, { path: url }));
    expect({
      read: await ask("readFile", expected.read),
      metadata: await ask("getMetadata", expected.metadata),
    }).toEqual(expected);
  },
);

it.runIf(process.platform === "linux")("leaves no descriptor behind", async () => {
  const count = () => readdirSync("/proc/self/fd").length;
  const before = count();
  const connection = connect(pageCache);
  for (const [name] of CASES) {
    for (const [method, options] of CALLS) {
      await callFiles(connection, method, { path: urlOf(name), ...options });
    }
  }
  expect(count()).toBe(before);
});
