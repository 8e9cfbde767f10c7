import { closeSync, openSync, readFileSync } from "node:fs";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ENV, outputOf, STDIO } from "../../../process-host/test/support.js";
import { bindLibc } from "../../src/libc/bind.js";
import { type Libc, PROTOTYPES } from "../../src/libc/libc.js";
import { createNative, type NativeOptions } from "../../src/native.js";
import { lacking } from "../support.js";

const isLinux = process.platform === "linux";

describe.skipIf(!isLinux)(`descriptors of a host that embeds us${isLinux ? "" : ": skipped, for Linux"}`, () => {
  /** Inheritable, as one that this process got from its parent. */
  let foreign: number;
  const backends: ExecBackend[] = [];
  beforeEach(() => {
    foreign = openSync("/dev/null", "r");
    bindLibc<Libc>(PROTOTYPES).fcntl(foreign, F_SETFD, "int", 0);
  });
  afterEach(async () => {
    for (const backend of backends.splice(0)) await backend.close();
    closeSync(foreign);
  });
  const isInheritable = () => {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${foreign}`, "latin1"))?.[1];
    return (Number.parseInt(flags!, 8) & O_CLOEXEC) === 0;
  };
  const run = async (stdio: (typeof STDIO)[number], missing: readonly string[], options?: NativeOptions) => {
    const backend = createLocalBackend({ native: createNative(lacking(...missing), options) });
    backends.push(backend);
    // The shell lists its own: no program has to open the directory in a process of its own.
    const argv = ["bash", "-c", "echo /proc/$$/fd/*"];
    const started = await backend.start({ argv, cwd: "/", env: ENV, stdio });
    const names = (await outputOf(started)).trim().split(" ");
    return names.map((name) => Number(name.split("/").at(-1)));
  };

  it.each(STDIO)("stay unchanged, and no child inherits them: %j", async (stdio) => {
    expect(await run(stdio, [])).not.toContain(foreign);
    expect(isInheritable()).toBe(true);
  });

  it.each(STDIO)("the same with a C library that cannot close a range: %j", async (stdio) => {
    expect(await run(stdio, ["posix_spawn_file_actions_addclosefrom_np"])).not.toContain(foreign);
    expect(isInheritable()).toBe(true);
  });

  it("are not inherited by any child, however it is started, with closeInheritedOnExec", async () => {
    await run({ kind: "pipe", stdin: "null" }, [], { closeInheritedOnExec: true });
    expect(isInheritable()).toBe(false);
  });
});

/** fcntl.h of Linux. */
const F_SETFD = 2;
const O_CLOEXEC = 0o2000000;
