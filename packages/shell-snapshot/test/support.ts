import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { afterEach } from "vitest";
import { joinBytes } from "../../process-host/test/support.js";
import {
  createShellSnapshots,
  type ShellCommand,
  type ShellSnapshots,
  type ShellSnapshotsOptions,
} from "../src/shell-snapshots.js";

/** Absolute path of a shell; undefined where it is missing. */
export function findShell(name: string): string | undefined {
  try {
    return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

/** A home directory, a place for snapshots, and commands in them; all gone after each test. */
export function useHome() {
  let root = "";
  let backend: ExecBackend | undefined;
  const open: ShellSnapshots[] = [];
  afterEach(async () => {
    for (const snapshots of open.splice(0)) await snapshots.close();
    await backend?.close();
    backend = undefined;
    if (root !== "") rmSync(root, { recursive: true, force: true });
    root = "";
  });
  const getRoot = () => {
    if (root === "") {
      root = mkdtempSync(join(tmpdir(), "snapshot-"));
      mkdirSync(join(root, "home"));
    }
    return root;
  };
  const getBackend = () => {
    backend ??= createLocalBackend();
    return backend;
  };
  return {
    get home() {
      return join(getRoot(), "home");
    },
    /** Where the files go. */
    get kept() {
      return join(getRoot(), "codex", "shell-snapshots");
    },
    write(files: Readonly<Record<string, string>>) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(this.home, name), text);
    },
    snapshots(options: Partial<ShellSnapshotsOptions> = {}): ShellSnapshots {
      const made = createShellSnapshots({
        backend: getBackend(),
        env: { CODEX_HOME: join(getRoot(), "codex") },
        ...options,
      });
      open.push(made);
      return made;
    },
    command(shell: string, script: string, more: Partial<ShellCommand> = {}): ShellCommand {
      const env = { PATH: "/usr/bin:/bin", HOME: this.home, TERM: "dumb", LC_ALL: "C" };
      return { argv: [shell, "-lc", script], cwd: "/tmp", env, ...more };
    },
    async run({ argv, cwd, env, sandbox }: ShellCommand) {
      const held = sandbox === undefined ? {} : { sandbox };
      const process = await getBackend().start({ argv, cwd, env, ...held, stdio: { kind: "pipe", stdin: "null" } });
      await process.closed;
      const { chunks } = await process.log.read(0);
      const textOf = (stream: string) => joinBytes(chunks.filter((chunk) => chunk.stream === stream)).toString();
      return { outcome: process.outcome, stdout: textOf("stdout"), stderr: textOf("stderr") };
    },
  };
}
