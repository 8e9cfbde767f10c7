import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { detectShell, resolveShell } from "../src/shell.js";

const resolve = (platform: string, passwdShell: string | undefined, present: string[], searchPath?: string) =>
  resolveShell({ platform, passwdShell, searchPath, isExecutable: (path) => present.includes(path) }).path;

describe("the shell of a host", () => {
  it.each([
    ["linux", "/usr/bin/zsh", ["/usr/bin/zsh", "/bin/bash"], "/usr/bin/zsh"],
    ["linux", "/opt/pwsh", ["/opt/pwsh"], "/opt/pwsh"],
    ["linux", "/usr/bin/fish", ["/usr/bin/fish", "/bin/bash", "/bin/sh"], "/bin/bash"],
    ["linux", "/usr/sbin/nologin", ["/usr/sbin/nologin", "/usr/bin/zsh", "/bin/sh"], "/usr/bin/zsh"],
    ["linux", "/bin/zsh", ["/bin/sh"], "/bin/sh"], // the user's is missing
    ["linux", undefined, ["/bin/sh"], "/bin/sh"],
    ["darwin", "/usr/bin/fish", ["/bin/bash", "/bin/zsh"], "/bin/zsh"],
    ["darwin", undefined, ["/bin/sh", "/bin/bash"], "/bin/bash"],
    ["linux", undefined, [], "/bin/sh"],
  ])("on %s with passwd shell %s and %j is %s", (platform, passwdShell, present, expected) => {
    expect(resolve(platform, passwdShell, present)).toBe(expected);
  });

  it("searches PATH first, but not its relative entries", () => {
    expect(resolve("linux", undefined, ["/opt/bin/bash", "/bin/bash"], "/opt/bin:/bin")).toBe("/opt/bin/bash");
    expect(resolve("linux", undefined, ["bash", "./bash", "/bin/bash"], ".::bin")).toBe("/bin/bash");
  });
});

it("prefers the user's shell if it can be executed, and falls back to an existing one", () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-shell-"));
  const own = join(directory, "zsh");
  writeFileSync(own, "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(directory, "bash"), "not executable", { mode: 0o644 });
  writeFileSync(join(directory, "fish"), "#!/bin/sh\n", { mode: 0o755 });
  expect(detectShell(own)).toEqual({ name: "zsh", path: own });
  for (const other of ["bash", "fish", "missing/sh"]) {
    const { path } = detectShell(join(directory, other));
    expect(path).not.toContain(directory);
    accessSync(path, constants.X_OK);
  }
  expect(detectShell("/usr/sbin/nologin").name).toMatch(/^(ba|z)?sh$/);
  rmSync(directory, { recursive: true });
});
