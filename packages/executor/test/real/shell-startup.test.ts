import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { useRealHosts } from "../support/real-host.js";

const home = mkdtempSync(join(tmpdir(), "startup-"));
writeFileSync(join(home, ".bash_profile"), "export MADE=1 A_TOKEN=secret TERM=changed; echo noise");
afterAll(() => rmSync(home, { recursive: true }));

describe("a login shell", () => {
  const open = useRealHosts();
  const request = {
    command: ["/bin/bash", "-lc", "echo $MADE $TERM $A_TOKEN"],
    cwd: "/tmp",
    env: { TERM: "dumb" },
    envPolicy: { inherit: "all" as const, ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] },
  };
  const env = { HOME: home, CODEX_HOME: join(home, ".codex"), PATH: "/usr/bin:/bin" };

  it("comes from a snapshot where the request allows it and there is one, and the result says so", async () => {
    const client = open({ env });
    const first = await client.exec({ ...request, shellSnapshot: true });
    expect(first.result.shellStartup).toEqual({ kind: "login", reason: "the snapshot is being made" });
    expect(first.output).toBe("noise\n1 changed secret\n");
    await expect
      .poll(() => client.exec({ ...request, shellSnapshot: true }))
      .toMatchObject({ result: { shellStartup: { kind: "snapshot" } }, output: "1 dumb\n" });
  });

  it.each(["/bin/bash", "/bin/zsh"].filter((shell) => existsSync(shell)))(
    "runs in the directory of the call, whatever its startup files change (%s)",
    async (shell) => {
      const changed = mkdtempSync(join(tmpdir(), "startup cd-"));
      onTestFinished(() => rmSync(changed, { recursive: true }));
      for (const name of [".bash_profile", ".zprofile"]) writeFileSync(join(changed, name), "cd /usr; export MADE=1\n");
      const cwd = join(changed, "it's here");
      mkdirSync(cwd);
      const client = open({ env: { ...env, HOME: changed, CODEX_HOME: join(changed, ".codex") } });
      const asked = { ...request, command: [shell, "-lc", "pwd; echo $MADE $0 line $LINENO\nexit 3"], cwd };
      const { output, result } = await client.exec(asked);
      expect(output).toBe(`${cwd}\n1 ${shell} line 1\n`);
      expect(result.outcome).toEqual({ kind: "exited", code: 3 });
      await expect
        .poll(() => client.exec({ ...asked, shellSnapshot: true }))
        .toMatchObject({
          result: { shellStartup: { kind: "snapshot" } },
          output: expect.stringContaining(cwd) as string,
        });
    },
  );

  it.each(
    [
      ["/bin/zsh", "-c"],
      ["zsh", "-c"],
      ["/bin/bash", "-c"],
      ["bash", "-lc"],
      ["/bin/sh", "-lc"],
    ].filter(([shell = ""]) => existsSync(join("/bin", basename(shell)))),
  )("runs in the directory of the call also for %s %s", async (shell = "", flags = "") => {
    const changed = mkdtempSync(join(tmpdir(), "startup cd-"));
    onTestFinished(() => rmSync(changed, { recursive: true }));
    for (const name of [".zshenv", ".profile", "bash-env"]) writeFileSync(join(changed, name), "cd /usr; MADE=1\n");
    const client = open({
      env: { ...env, PATH: "/usr/bin:/bin", HOME: changed, BASH_ENV: join(changed, "bash-env") },
    });
    const { output } = await client.exec({ ...request, command: [shell, flags, "pwd; echo $MADE"], cwd: changed });
    expect(output).toBe(`${changed}\n1\n`);
  });

  it("reads its startup files where nobody allows anything else", async () => {
    const client = open({ env });
    for (const _ of [1, 2]) {
      const { output, result } = await client.exec(request);
      expect(output).toBe("noise\n1 changed secret\n");
      expect(result).not.toHaveProperty("shellStartup");
    }
  });
});
