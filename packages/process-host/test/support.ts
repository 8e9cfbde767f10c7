import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecBackend, ExecProcess, OutputChunk, ProcessSpec, ProcessStdio } from "@codex/exec-backend";
import { afterEach } from "vitest";
import { createLocalBackend } from "../src/local-backend.js";

/** Both kinds of stdio, for bodies that run over each. */
export const STDIO: readonly ProcessStdio[] = [{ kind: "pty" }, { kind: "pipe", stdin: "null" }];

/** A backend that is closed after each test, with everything it started. */
export function useBackend(): {
  readonly backend: ExecBackend;
  run(argv: string[], spec?: Partial<ProcessSpec>): Promise<ExecProcess>;
  /** Makes an executable file, removed after the test; returns its path. */
  file(name: string, content: string): string;
} {
  let backend: ExecBackend | undefined;
  const directories: string[] = [];
  const get = () => {
    backend ??= createLocalBackend();
    return backend;
  };
  afterEach(async () => {
    await backend?.close();
    backend = undefined;
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
  });
  return {
    get backend() {
      return get();
    },
    run: (argv, spec = {}) =>
      get().start({ argv, cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin: "null" }, ...spec }),
    file(name, content) {
      const directory = mkdtempSync(join(tmpdir(), "codex-test-"));
      directories.push(directory);
      writeFileSync(join(directory, name), content, { mode: 0o755 });
      return join(directory, name);
    },
  };
}

export const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? "/", LC_ALL: "C" };

export const joinBytes = (chunks: readonly OutputChunk[]): Buffer => Buffer.concat(chunks.map((chunk) => chunk.bytes));

/** All retained output as text, after the process has closed; terminal line ends made plain. */
export async function outputOf(process: ExecProcess): Promise<string> {
  await process.closed;
  return joinBytes((await process.log.read(0)).chunks)
    .toString()
    .replaceAll("\r\n", "\n");
}

/** Resolves when the output so far holds `text`. */
export async function untilOutput(process: ExecProcess, text: string): Promise<string> {
  for (;;) {
    const { end, complete } = process.log;
    const output = joinBytes((await process.log.read(0, end)).chunks).toString();
    if (output.includes(text)) return output;
    if (complete) throw new Error(`the output ended without ${JSON.stringify(text)}: ${JSON.stringify(output)}`);
    await process.log.waitFor(end);
  }
}

/** Whether a process runs; one that has ended but that its parent has not collected yet does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch (error) {
    return process.platform !== "linux" && !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Resolves when a process is gone; looks every few milliseconds because it is not our child. */
export async function untilGone(pid: number, deadlineMs = 5_000): Promise<boolean> {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; ) {
    if (!isAlive(pid)) return true;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return !isAlive(pid);
}
