import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createNative } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBubblewrap } from "../../src/bubblewrap/find-bubblewrap.js";
import { explainFailure } from "../../src/bubblewrap/preflight.js";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict } from "../support.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "codex-preflight-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("a host that cannot sandbox", () => {
  it("says why, and refuses what asks for a sandbox without running it", async () => {
    let checks = 0;
    const preflight = async () => {
      checks += 1;
      return { kind: "missing" as const, problem: "the program `bwrap` was not found", isTransient: false };
    };
    const backend = createLocalBackend({ sandbox: createCommandSandbox({ platform: "linux", preflight }) });
    const marker = join(base, "ran");
    const start = (sandbox: ReturnType<typeof restrict>) =>
      backend.start({ argv: ["touch", marker], cwd: base, env: {}, stdio: { kind: "pipe", stdin: "null" }, sandbox });
    try {
      expect(await backend.getSandboxSupport?.()).toEqual({
        kind: "none",
        problem: "the program `bwrap` was not found",
      });
      await expect(start(restrict([READ_ALL, entry(base, "write")]))).rejects.toMatchObject({
        code: "sandbox_unavailable",
        message: expect.stringContaining("`bwrap` was not found"),
      });
      expect(existsSync(marker)).toBe(false);
      expect(checks).toBe(1);
      const process = await start({ permissions: { type: "disabled" } });
      expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    } finally {
      await backend.close();
    }
  });

  it.each([
    [{ "/proc/sys/kernel/unprivileged_userns_clone": "0" }, "No permissions", "kernel.unprivileged_userns_clone=1"],
    [{ "/proc/sys/user/max_user_namespaces": "0" }, "No space left on device", "user.max_user_namespaces="],
    [
      { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1" },
      "uid map: Permission denied",
      "apparmor_restrict_unprivileged_userns=0",
    ],
    [{}, "Creating new namespace failed: Operation not permitted", "CAP_SYS_ADMIN"],
    [{}, "Can't mount proc on /newroot/proc: Operation not permitted", "new /proc"],
    [{}, "Can't read /proc/sys/kernel/overflowuid: No such file or directory", "has no /proc"],
    [{}, "prctl(PR_SET_SECCOMP): Invalid argument", "CONFIG_SECCOMP_FILTER"],
  ])("with settings %j names what mends %j", (settings: Record<string, string>, failure, text) => {
    const problem = explainFailure("/usr/bin/bwrap", `bwrap: ${failure}`, (file) => settings[file] ?? "");
    expect(problem).toContain(text);
    expect(problem).toContain(failure);
  });
});

it.skipIf(NO_BUBBLEWRAP !== undefined || process.getuid?.() !== 0)(
  `without /proc says so, and not that bubblewrap is too old (${NO_BUBBLEWRAP ?? "bubblewrap, as root"})`,
  () => {
    const program = fileURLToPath(new URL("../programs/tell-support.mjs", import.meta.url));
    const script = 'mount -t tmpfs none /proc && exec "$0" "$@"';
    const argv = ["--mount", "/bin/sh", "-c", script, process.execPath, program];
    expect(JSON.parse(execFileSync("unshare", argv, { encoding: "utf8" }))).toEqual({
      kind: "none",
      problem: expect.stringContaining("has no /proc"),
    });
  },
);

describe("a host that is short of something", () => {
  const missing = (isTransient: boolean) => ({ kind: "missing" as const, problem: "some reason", isTransient });

  it("is tried again the next time, once for all who ask at once", async () => {
    const answers = [missing(true), missing(true), missing(false)];
    let checks = 0;
    const preflight = async () => answers[checks++]!;
    const sandbox = createCommandSandbox({ platform: "linux", preflight });
    for (const count of [1, 2, 3, 3]) {
      await Promise.all([sandbox.getSupport(), sandbox.getSupport(), sandbox.getSupport()]);
      expect(checks).toBe(count);
    }
  });

  it.skipIf(NO_BUBBLEWRAP !== undefined)(
    `says so, and is not told apart later (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
    () => {
      const program = fileURLToPath(new URL("../programs/out-of-files.mjs", import.meta.url));
      const argv = ["-c", 'ulimit -n 128 && exec "$0" "$@"', process.execPath, program];
      const said = JSON.parse(execFileSync("/bin/sh", argv, { encoding: "utf8" }));
      for (const { terminal, support } of [said.without, said.withOne]) {
        expect(terminal).toContain("too many open files; this process may have 128 (`ulimit -n`)");
        expect(support).toEqual({
          kind: "none",
          problem: expect.stringMatching(/too many open files|EMFILE/),
          expected: "bubblewrap",
        });
        expect(support.problem).not.toContain("too old");
      }
      expect(said.with).toEqual({ terminal: "exited", support: { kind: "bubblewrap" } });
    },
  );
});

it.skipIf(NO_BUBBLEWRAP !== undefined)(
  `without native code names that, and not the host (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
  async () => {
    const native = createNative();
    const createMemoryFile = () => {
      throw new Error("the native code of `koffi` cannot be loaded (Cannot find module 'koffi')");
    };
    const sandbox = createCommandSandbox({ platform: "linux", native: { ...native, createMemoryFile } });
    const support = await sandbox.getSupport();
    expect(support).toEqual({
      kind: "none",
      problem: expect.stringMatching(
        /bwrap could not be tried: the native code of `koffi` cannot be loaded \(Cannot find/,
      ),
    });
    const command = { argv: ["true"], file: "/bin/true", cwd: "/", env: {}, session: "new" } as const;
    const refused = sandbox.wrap(command, restrict([READ_ALL]));
    await expect(refused).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/`koffi` cannot be loaded/),
    });
  },
);

describe("the search for bubblewrap", () => {
  const make = (directory: string, mode = 0o755) => {
    const path = join(base, directory);
    mkdirSync(path);
    writeFileSync(join(path, "bwrap"), "#!/bin/sh\n");
    chmodSync(join(path, "bwrap"), mode);
    return path;
  };

  it("takes the first that others cannot replace, and says which it left out", () => {
    const [open, closed] = [make("open", 0o777), make("closed")];
    const found = findBubblewrap(`relative:${open}:${closed}`, []);
    expect(found.path).toBe(join(closed, "bwrap"));
    expect(found.refused).toEqual([expect.stringContaining(`${open}/bwrap can be written by others`)]);
  });

  it("looks at what a link leads to, and at its directory", () => {
    const shared = make("shared");
    chmodSync(shared, 0o777);
    mkdirSync(join(base, "links"));
    symlinkSync(join(shared, "bwrap"), join(base, "links/bwrap"));
    expect(findBubblewrap(join(base, "links"), []).path).toBeUndefined();
  });

  it("prefers the system's", () => {
    const system = make("system");
    copyFileSync(join(system, "bwrap"), join(base, "other"));
    expect(findBubblewrap(make("path"), [join(system, "bwrap")]).path).toBe(join(system, "bwrap"));
  });

  it("finds none where there is none", () => {
    expect(findBubblewrap(base, [])).toEqual({ path: undefined, refused: [] });
  });
});
