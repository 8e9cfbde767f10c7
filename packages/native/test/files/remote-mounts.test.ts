import { expect, it } from "vitest";
import { createRemoteMounts } from "../../src/files/remote-mounts.js";
import { MAX_LINKS_FOLLOWED, MAX_MOUNTS_AGE_MS } from "../../src/limits.js";

const LINES = [
  "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
  "30 22 0:40 / /srv/far rw,relatime shared:9 - nfs4 far:/export rw",
  "31 22 0:41 / /srv/my\\040drive rw - fuse.sshfs me@far: rw",
  "32 22 0:42 / /srv/disk rw shared:3 master:1 - xfs /dev/sdb1 rw",
  "33 22 0:43 / /proc/fs rw - fusectl fusectl rw",
];

function open(text: () => string, links: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const clock = { now: 0 };
  const mounts = createRemoteMounts({
    readMounts: text,
    lookUp(path) {
      asked.push(path);
      return answered;
    },
    readLink(path) {
      expect(path).not.toMatch(/^\/srv\/(far|my drive)(\/|$)/);
      return links[path];
    },
    now: () => clock.now,
  });
  return { mounts, asked, answer, clock };
}

it("looks up paths on remote mounts, once each, and no others", async () => {
  const { mounts, asked, answer } = open(() => LINES.join("\n"));
  expect(mounts.reach(["/", "/srv", "/srv/farther", "/srv/disk/x", "/proc/fs/x", "relative"])).toBeUndefined();
  const reached = mounts.reach(["/usr", "/srv/far", "/srv/disk/../far/x", "/srv/far/x", "/srv/my drive/y"]);
  // A mount that does not answer keeps one thread of the pool, however many wait for it.
  expect(asked).toEqual(["/srv/far", "/srv/my drive/y"]);
  const later = mounts.reach(["/srv/far/z"]);
  expect(asked).toHaveLength(2);
  let isReached = false;
  void reached?.then(() => {
    isReached = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isReached).toBe(false);
  answer();
  await reached;
  await later;
  expect(asked).toEqual(["/srv/far", "/srv/my drive/y", "/srv/far/x", "/srv/far/z"]);
});

it("knows where they are", () => {
  const { mounts } = open(() => LINES.join("\n"));
  const paths = ["/", "/srv", "/srv/far", "/srv/far/x", "/srv/disk", "/srv/my drive"];
  expect(paths.filter((path) => mounts.isAt(path))).toEqual(["/srv/far", "/srv/my drive"]);
});

it("follows links to such a mount without touching it", async () => {
  const links = {
    "/home/me/far": "/srv/far/me",
    "/home/me/near": "../you",
    "/home/you/deep": "../me/far/x/",
    "/usr": "/srv/disk",
    "/loop": "/loop",
  };
  const { mounts, asked, answer } = open(() => LINES.join("\n"), links);
  answer();
  expect(mounts.reach(["/home/me/near/x", "/usr/bin", "/loop/x", "/home/me/../me"])).toBeUndefined();
  await mounts.reach(["/home/me/far", "/home/me/near/deep/y", "/usr/../far/z"]);
  expect(asked).toEqual(["/srv/far/me", "/srv/far/me/x//y", "/srv/far/z"]);
  expect(MAX_LINKS_FOLLOWED).toBe(40);
});

it("does not ask for the paths where there is no such mount", () => {
  const paths = {
    [Symbol.iterator]: () => {
      throw new Error("iterated");
    },
  };
  expect(open(() => LINES[0]!).mounts.reach(paths)).toBeUndefined();
});

it("has none where this process itself depends on the mount, and none on systems without a list", () => {
  expect(open(() => "22 1 0:2 / / rw - 9p none rw").mounts.reach(["/x"])).toBeUndefined();
  const missing = open(() => {
    throw new Error("ENOENT");
  });
  expect(missing.mounts.reach(["/srv/far"])).toBeUndefined();
});

it("reads the list again when it is old", () => {
  expect(MAX_MOUNTS_AGE_MS).toBe(1_000);
  const lines = LINES.slice(0, 1);
  const { mounts, clock } = open(() => lines.join("\n"));
  expect(mounts.reach(["/srv/far"])).toBeUndefined();
  lines.push(LINES[1]!);
  clock.now = MAX_MOUNTS_AGE_MS;
  expect(mounts.reach(["/srv/far"])).toBeUndefined();
  clock.now += 1;
  expect(mounts.reach(["/srv/far"])).toBeDefined();
});
