// The program that a caller becomes whose own runs outside, for each architecture that this host can run.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { assembleStub } from "../../src/gate/stub.js";

/** The socket of the stub. */
const SOCKET = 3;
const EMULATORS = { x64: "/usr/bin/qemu-x86_64", arm64: "/usr/bin/qemu-aarch64" } as const;

const runners = (["x64", "arm64"] as const).flatMap((architecture) => {
  if (process.platform !== "linux") return [];
  if (process.arch === architecture) return [{ architecture, runner: [] }];
  return existsSync(EMULATORS[architecture]) ? [{ architecture, runner: [EMULATORS[architecture]] }] : [];
});

it("there is none for other architectures", () => {
  expect(assembleStub(SOCKET, "riscv64")).toBeUndefined();
});

describe.each(runners)("the stub for $architecture", ({ architecture, runner }) => {
  /** Starts it, waits until it says that it is there, and ends its wait. */
  const run = async (end: (socket: Duplex) => void, fd = SOCKET) => {
    const directory = mkdtempSync(join(tmpdir(), "codex-stub-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "stub");
    writeFileSync(file, assembleStub(fd, architecture)!, { mode: 0o755 });
    const [program, ...args] = [...runner, file];
    const child = spawn(program!, args, {
      stdio: Array.from({ length: fd + 1 }, (_, index) => (index < fd ? "ignore" : "pipe")),
    });
    const socket = child.stdio[fd] as Duplex;
    const [here] = (await once(socket, "data")) as [Buffer];
    const exited = once(child, "exit");
    end(socket);
    const [code, signal] = (await exited) as [number | null, string | null];
    return { here: here.length, end: code ?? signal };
  };
  const write = (value: number) => (socket: Duplex) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    socket.write(bytes);
  };

  it.each([
    ["an exit code", write(0), 0],
    ["another exit code", write(255), 255],
    ["a signal", write(256 + 15), "SIGTERM"],
    ["a signal that it does not survive", write(256 + 9), "SIGKILL"],
    ["a signal that ends nothing", write(256 + 18), 128 + 18],
    ["the end of its socket", (socket: Duplex) => socket.destroy(), 127],
  ])("ends by %s", async (_, end, expected) => {
    expect(await run(end)).toEqual({ here: 1, end: expected });
  });

  it("has its socket at any number", async () => {
    expect(await run(write(7), 9)).toEqual({ here: 1, end: 7 });
  });
});
