import { describe, expect, it } from "vitest";
import { findDenial } from "../src/find-denial.js";
import { createHostFiles } from "../src/profile/host-files.js";
import type { SandboxProfile } from "../src/profile/profile.js";

const PROFILE: SandboxProfile = {
  network: "restricted",
  fileSystem: {
    minimal: false,
    entries: [
      { path: "/", access: "read", kind: "directory" },
      { path: "/project", access: "write", kind: "directory" },
    ],
  },
};
const ALLOWED = { canRead: () => true, canWrite: () => true };
const find = (output: string, cwd = "/project") =>
  findDenial({ exitCode: 1, output, cwd }, PROFILE, createHostFiles({}), ALLOWED);

describe("the path that was refused", () => {
  it.each([
    ["/bin/bash: line 1: /usr/x: Read-only file system", "/usr/x"],
    ["/usr/bin/touch: cannot touch '/usr/a b': Read-only file system", "/usr/a b"],
    ["mkdir: cannot create directory \u2018/usr/d\u2019: Read-only file system", "/usr/d"],
    ["Error: EROFS: read-only file system, open '/usr/f'", "/usr/f"],
    ["cp: /project/a: /usr/b: Read-only file system", "/usr/b"],
  ])("in %j is %s", (line, path) => {
    expect(find(`before\n${line}\nafter`)).toEqual({
      certain: true,
      reason: expect.stringContaining(`the sandbox refused \`${path}\`: `),
    });
  });

  it("may be relative, and may have blanks in it", () => {
    expect(find("/bin/sh: 1: f: Read-only file system", "/usr")?.reason).toContain("`/usr/f`");
    expect(find("sh: line 1: a b: Read-only file system", "/usr")?.reason).toContain("`/usr/a b`");
  });

  it("is a guess where the sandbox leaves it open", () => {
    expect(find("sh: line 1: x: Read-only file system")).toMatchObject({ certain: false });
    expect(find("all is well")).toBeUndefined();
  });
});
