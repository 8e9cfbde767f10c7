import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RemoteMounts } from "@codex/native";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { MAX_PATTERN_MATCHES } from "../../src/limits.js";
import { createHostFiles, type HostFiles } from "../../src/profile/host-files.js";
import { entry, pattern, READ_ALL, restrict } from "../support.js";

describe("a search for patterns", () => {
  let base: string;
  /** Directories that were read, off this thread. */
  let reads: string[];
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-search-")));
    for (const name of ["a/b/c", "d", "e"]) mkdirSync(join(base, name), { recursive: true });
    for (const name of ["a/.env", "a/b/c/.env", "d/x"]) writeFileSync(join(base, name), "");
    reads = [];
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  const open = (more: Partial<HostFiles> = {}, mounts?: RemoteMounts) => {
    const files = createHostFiles();
    return createCommandSandbox({
      ...(mounts === undefined ? {} : { mounts }),
      files: {
        ...files,
        list() {
          throw new Error("a directory was read on this thread");
        },
        listLater(directory) {
          reads.push(directory);
          return files.listLater(directory);
        },
        ...more,
      },
    });
  };
  const asked = () => restrict([READ_ALL, entry(base, "write"), pattern(`${base}/**/.env`)]);
  const denied = async (host = open(), sandbox = asked()) => {
    const { fileSystem } = host.resolve(sandbox, await host.search(sandbox));
    if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
    return fileSystem.entries.filter(({ access }) => access === "deny").map(({ path }) => path.slice(base.length + 1));
  };

  it("finds what a search on this thread finds, and reads no directory on it", async () => {
    expect((await denied()).sort()).toEqual(["a/.env", "a/b/c/.env"]);
    expect(reads).toHaveLength(6);
  });

  it("reads a directory ahead on each level, and no more than that where one does not answer", async () => {
    const answers = new Map<string, () => void>();
    const files = createHostFiles();
    const listLater = async (directory: string) => {
      reads.push(directory);
      if (directory.startsWith(join(base, "a"))) await new Promise<void>((resolve) => answers.set(directory, resolve));
      return files.listLater(directory);
    };
    const found = denied(open({ listLater }));
    await expect.poll(() => [...reads].sort()).toEqual([base, join(base, "a"), join(base, "d")]);
    answers.get(join(base, "a"))?.();
    await expect.poll(() => reads.includes(join(base, "a/b"))).toBe(true);
    expect(reads).toHaveLength(4);
    await expect.poll(() => answers.get(join(base, "a/b"))).toBeDefined();
    answers.get(join(base, "a/b"))?.();
    await expect.poll(() => answers.get(join(base, "a/b/c"))).toBeDefined();
    answers.get(join(base, "a/b/c"))?.();
    expect((await found).sort()).toEqual(["a/.env", "a/b/c/.env"]);
    expect(reads).toHaveLength(6);
  });

  it.each(["**/.env", "*/.env", "{a,d}/.env"])("examines %s only in directories that have answered", async (text) => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const files = createHostFiles();
    const examined: string[] = [];
    const listLater = async (directory: string) => {
      reads.push(directory);
      if (directory === join(base, "a")) await answered;
      return files.listLater(directory);
    };
    const kind = (path: string) => {
      examined.push(path);
      return files.kind(path);
    };
    const host = open({ listLater, kind });
    const asked = restrict([READ_ALL, pattern(`${base}/${text}`)]);
    const found = host.search(asked);
    await expect.poll(() => reads).toContain(join(base, "a"));
    expect(examined.filter((path) => path.startsWith(join(base, "a/")))).toEqual([]);
    answer();
    expect([...(await found).values()].flat()).toContain(join(base, "a/.env"));
  });

  it("reads each directory once for all patterns of a sandbox", async () => {
    const asked = [pattern(`${base}/a*`), pattern(`${base}/b*`), pattern(`${base}/**/*.key`)];
    await open().search(restrict([READ_ALL, ...asked]));
    expect(reads.toSorted()).toEqual([...new Set(reads)].toSorted());
    expect(reads).toContain(base);
  });

  it("waits with one thread for a directory that does not answer", () => {
    const { listLater } = createHostFiles();
    const [first, second, third] = [listLater(base), listLater(base), listLater(base)];
    expect(second).not.toBe(first);
    expect(third).toBe(second);
  });

  it("takes brackets as glob(7) has them, in any order of a range", async () => {
    for (const name of ["]a", "ba", "a]", "b]"]) writeFileSync(join(base, "e", name), "");
    const closing = (text: string) =>
      denied(open(), restrict([READ_ALL, entry(base, "write"), pattern(`${base}/e/${text}`)]));
    expect(await closing("[]]a")).toEqual(["e/]a"]);
    expect(await closing("[!]]a")).toEqual(["e/ba"]);
    expect((await closing("[b-a]]")).sort()).toEqual(["e/a]", "e/b]"]);
  });

  it("is made twice for any number of calls at once, and sees what was there when they came", async () => {
    const host = open();
    const first = denied(host);
    writeFileSync(join(base, "e/.env"), "");
    const others = await Promise.all(Array.from({ length: 50 }, () => denied(host)));
    expect((await first).length).toBeGreaterThanOrEqual(2);
    for (const found of others) expect(found).toContain("e/.env");
    expect(reads).toHaveLength(12);
    rmSync(join(base, "e/.env"));
    expect(await denied(host)).not.toContain("e/.env");
    expect(reads).toHaveLength(18);
  });

  it("is not shared by sandboxes whose patterns mean something else", async () => {
    const host = open();
    const [one, other] = await Promise.all([
      denied(host),
      denied(host, restrict([READ_ALL, pattern("**/x")], { cwd: join(base, "d") })),
    ]);
    expect([one, other]).toEqual([expect.arrayContaining(["a/.env"]), ["d/x"]]);
  });

  it("is refused where it finds too much, as on this thread", async () => {
    const many = Array.from({ length: MAX_PATTERN_MATCHES + 1 }, (_, at) => ({
      name: `f${at}`,
      kind: "file" as const,
    }));
    const host = open({ listLater: async () => many });
    await expect(denied(host, restrict([READ_ALL, pattern(`${base}/*`)]))).rejects.toMatchObject({
      code: "sandbox_invalid",
      message: expect.stringContaining("too many matches"),
    });
  });

  it("waits for the mounts that its paths and patterns are on", async () => {
    const named: string[] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const mounts = {
      isAt: () => false,
      reach(paths: Iterable<string>) {
        named.push(...paths);
        return answered;
      },
    };
    const patterns = [pattern("**/x"), pattern(`${base}/a/b*/c`)];
    const sandbox = restrict([READ_ALL, entry(base, "write"), ...patterns], { cwd: join(base, "d") });
    const searched = open({}, mounts).search(sandbox);
    await new Promise((resolve) => setImmediate(resolve));
    expect([named, reads]).toEqual([["/", base, join(base, "d"), join(base, "a")], []]);
    answer();
    await searched;
    expect(reads).toEqual([join(base, "d"), join(base, "a"), join(base, "a/b")]);
  });

  it("asks nothing of a sandbox without patterns", async () => {
    await open().search(restrict([READ_ALL]));
    expect(reads).toEqual([]);
  });
});
