import { describe, expect, it } from "vitest";
import { getHostInfo } from "../../src/host/host-info.js";
import { resolveShell } from "../../src/host/shell.js";

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

  it("looks through PATH first, but not through relative entries", () => {
    expect(resolve("linux", undefined, ["/opt/bin/bash", "/bin/bash"], "/opt/bin:/bin")).toBe("/opt/bin/bash");
    expect(resolve("linux", undefined, ["bash", "./bash", "/bin/bash"], ".::bin")).toBe("/bin/bash");
  });

  it("is told with the rest of this host", () => {
    const host = getHostInfo(process.env);
    expect(host).toMatchObject({ os: process.platform, arch: process.arch, cwd: process.cwd() });
    expect(host.shell.path.endsWith(`/${host.shell.name}`)).toBe(true);
    expect(["bash", "zsh", "sh", "pwsh"]).toContain(host.shell.name);
  });
});
