import type { ExecBackend, ProcessStdio } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import { afterEach, describe, expect, it } from "vitest";
import { ENV, outputOf } from "../../../process-host/test/support.js";
import { NO_BUBBLEWRAP, READ_ALL, restrict } from "../../../sandbox/test/support.js";
import { createEntryReader } from "../../src/files/entry-reader.js";
import { createKernel } from "../../src/files/kernel.js";
import { PROTOTYPES } from "../../src/libc/libc.js";
import { createNative } from "../../src/native.js";
import { lacking } from "../support.js";

const isLinux = process.platform === "linux";
const PIPE: ProcessStdio = { kind: "pipe", stdin: "open" };
const TERMINAL: ProcessStdio = { kind: "pty" };
/** Those of the thread pool's reads; the allocator's is asked for when memory is given back. */
const OTHERS = ["fdopen", "setvbuf", "fread", "clearerr", "fclose", "malloc_trim"];

const backends: ExecBackend[] = [];
afterEach(async () => {
  await Promise.all(backends.splice(0).map((backend) => backend.close()));
});

function open(name: string) {
  const native = createNative(lacking(name));
  const backend = createLocalBackend({ native, sandbox: createCommandSandbox({ native }) });
  backends.push(backend);
  return { native, backend };
}

const BYTES = 300_000;
const SCRIPT = `head -c ${BYTES} /dev/zero | tr '\\0' a`;

describe.skipIf(!isLinux)(`without a function of the C library${isLinux ? "" : ": skipped, for Linux"}`, () => {
  describe.each([...Object.keys(PROTOTYPES), ...OTHERS])("%s", (name) => {
    it("programs run on pipes, and are ended", async () => {
      const { native, backend } = open(name);
      const started = await backend.start({ argv: ["sh", "-c", SCRIPT], cwd: "/", env: ENV, stdio: PIPE });
      expect((await outputOf(started)).length).toBe(BYTES);
      expect(await started.exited).toEqual({ kind: "exited", code: 0 });
      const waiting = await backend.start({ argv: ["sleep", "300"], cwd: "/", env: ENV, stdio: PIPE });
      expect(await waiting.terminate({ graceMs: 0 })).toMatchObject({ gone: true });
      native.trimMemory();
    });

    const noTerminals = name === "fcntl" ? ": skipped, they need it; every C library has it" : "";
    it.skipIf(noTerminals !== "")(`programs run on terminals${noTerminals}`, async () => {
      const { backend } = open(name);
      const started = await backend.start({ argv: ["sh", "-c", SCRIPT], cwd: "/", env: ENV, stdio: TERMINAL });
      expect((await outputOf(started)).length).toBe(BYTES);
      expect(await started.exited).toEqual({ kind: "exited", code: 0 });
    });

    it.skipIf(NO_BUBBLEWRAP !== undefined)(`sandboxes hold (${NO_BUBBLEWRAP ?? "bubblewrap"})`, async () => {
      const { backend } = open(name);
      const spec = { argv: ["touch", "/usr/x"], cwd: "/", env: ENV, stdio: PIPE, sandbox: restrict([READ_ALL]) };
      // It runs in the sandbox, or not at all.
      const started = await backend.start(spec).catch((error: unknown) => error as Error);
      if (started instanceof Error) expect(started).toMatchObject({ name: "StartError" });
      else expect(await started.exited).toEqual({ kind: "exited", code: 1 });
    });
  });

  it("terminals are refused without fcntl, by the name of the function", async () => {
    const { backend } = open("fcntl");
    const start = backend.start({ argv: ["true"], cwd: "/", env: ENV, stdio: TERMINAL });
    await expect(start).rejects.toMatchObject({ name: "StartError", message: expect.stringContaining("'fcntl'") });
  });

  it.each(["syscall", "openat", "statx", "pread", "preadv2", "poll", "close"])(
    "%s, files are read otherwise",
    (name) => {
      expect(createKernel(lacking(name))).toBeUndefined();
    },
  );

  it("getdents64, directories are read otherwise", async () => {
    const reader = createEntryReader(lacking("getdents64"));
    expect(reader.isReady()).toBe(false);
    expect(await reader.read(0, Buffer.alloc(1))).toBe(-1);
  });
});
