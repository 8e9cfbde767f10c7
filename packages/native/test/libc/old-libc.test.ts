import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import { afterEach, describe, expect, it } from "vitest";
import { ENV, outputOf, STDIO } from "../../../process-host/test/support.js";
import { NO_BUBBLEWRAP, READ_ALL, restrict } from "../../../sandbox/test/support.js";
import { bindLibc } from "../../src/libc/bind.js";
import { createNative } from "../../src/native.js";
import { lacking } from "../support.js";

const isLinux = process.platform === "linux";

const backends: ExecBackend[] = [];
afterEach(async () => {
  await Promise.all(backends.splice(0).map((backend) => backend.close()));
});

describe.skipIf(!isLinux)(`an older C library${isLinux ? "" : ": skipped, for Linux"}`, () => {
  const open = (...names: readonly string[]) => {
    const native = createNative(lacking(...names));
    const backend = createLocalBackend({ native, sandbox: createCommandSandbox({ native }) });
    backends.push(backend);
    return backend;
  };
  const cwd = realpathSync(tmpdir());

  it.each(STDIO)("that cannot start a child in another directory: %j", async (stdio) => {
    const backend = open("posix_spawn_file_actions_addchdir_np");
    const before = process.cwd();
    const started = await backend.start({
      argv: ["sh", "-c", "pwd; env; ps -o sid= -p $$ | tr -d ' '"],
      cwd,
      env: { PATH: ENV.PATH, A: "1" },
      stdio,
    });
    const [pwd, ...rest] = (await outputOf(started)).trim().split("\n");
    expect(pwd).toBe(cwd);
    expect(rest.at(-1)).toBe(String(started.pid));
    expect(rest.slice(0, -1)).toEqual(expect.arrayContaining([`PATH=${ENV.PATH}`, "A=1"]));
    expect(process.cwd()).toBe(before);
    await expect(backend.start({ argv: ["true"], cwd: join(cwd, "no/such"), env: ENV, stdio })).rejects.toMatchObject({
      code: "cwd_not_found",
    });
    expect(process.cwd()).toBe(before);
  });

  it.skipIf(NO_BUBBLEWRAP !== undefined)(`that has no files in memory (${NO_BUBBLEWRAP ?? "bubblewrap"})`, async () => {
    const backend = open("memfd_create", "posix_spawn_file_actions_addchdir_np");
    const sandbox = restrict([READ_ALL]);
    const started = await backend.start({
      argv: ["pwd"],
      cwd,
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
      sandbox,
    });
    expect(await outputOf(started)).toBe(`${cwd}\n`);
  });

  it("binds a function only when it is needed", () => {
    const libc = bindLibc<{ getpid(): number; nothing(): number }>(
      { getpid: "int getpid()", nothing: "int nothing()" },
      lacking("nothing"),
    );
    expect(libc.getpid()).toBe(process.pid);
    expect(() => libc.nothing).toThrow("'nothing'");
  });
});
