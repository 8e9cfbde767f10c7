import { describe, expect, it } from "vitest";
import { findOddMount, hasAllMounts, type Mount, readMounts } from "../../src/bubblewrap/mount-table.js";
import type { ProfileEntry } from "../../src/profile/profile.js";

const at = (path: string, root = path, device = "8:1", type = "ext4"): Mount => ({ device, root, path, type });
const HOST = [
  at("/", "/@"),
  at("/proc", "/", "0:4", "proc"),
  at("/home", "/", "8:2"),
  at("/home", "/x", "8:3"),
  at("/mnt/a b"),
];
const entry = (path: string, access: ProfileEntry["access"], more: Partial<ProfileEntry> = {}): ProfileEntry => ({
  path,
  access,
  kind: "directory",
  ...more,
});
const ENTRIES = [entry("/", "read"), entry("/home/u", "write"), entry("/srv", "read"), entry("/home/u/key", "deny")];
const GOOD = [
  ...[at("/", "/@"), at("/home", "/x", "8:3"), at("/proc", "/", "0:9", "proc"), at("/dev/null", "/null", "0:5")],
  ...[at("/home/u", "/x/u", "8:3"), at("/srv", "/@/srv"), at("/home/u/key", "/", "0:7", "tmpfs"), at("/mnt/a b")],
];
const check = (mounts: readonly Mount[], entries = ENTRIES) => findOddMount({ entries, minimal: false }, HOST, mounts);

describe("the mounts of a sandbox", () => {
  it("are what was meant", () => {
    expect(check(GOOD)).toBeUndefined();
    expect(hasAllMounts({ entries: ENTRIES, minimal: false }, GOOD)).toBe(true);
    expect(hasAllMounts({ entries: ENTRIES, minimal: false }, GOOD.slice(0, 6))).toBe(false);
  });

  it.each([
    ["another part of the file system", [...GOOD, at("/home/u", "/x/root", "8:3")], "/home/u"],
    ["another file system", [...GOOD, at("/srv", "/@/srv", "8:9")], "/srv"],
    ["a place that nobody named", [...GOOD, at("/root", "/x/u", "8:3")], "/root"],
    ["something over a mount of the host", [...GOOD, at("/mnt/a b", "/x/u", "8:3")], "/mnt/a b"],
    ["something over what is denied", [...GOOD, at("/home/u/key", "/x/u/key", "8:3")], "/home/u/key"],
    ["nothing over what is denied", GOOD.filter(({ path }) => path !== "/home/u/key"), "/home/u/key"],
  ])("are not: %s", (_what, mounts, odd) => expect(check(mounts)).toBe(odd));

  it("may close files, and keep names free", () => {
    const entries = [entry("/srv/f", "deny", { kind: "file" }), entry("/srv/.git", "read", { missing: true })];
    const mounts = [at("/srv/f", "/null", "0:5"), at("/srv/.git", "/", "0:8", "tmpfs")];
    expect(check(mounts, entries)).toBeUndefined();
    expect(check([at("/srv/f", "/@/srv/f"), mounts[1]!], entries)).toBe("/srv/f");
    expect(check([mounts[0]!, at("/srv/.git", "/@/srv/.git")], entries)).toBe("/srv/.git");
  });

  it.skipIf(process.platform !== "linux")("are read of a process", () => {
    expect(readMounts("self")?.find(({ path }) => path === "/proc")).toMatchObject({ root: "/", type: "proc" });
    expect(readMounts(2 ** 22 + 1)).toBeUndefined();
  });
});
