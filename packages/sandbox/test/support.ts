import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecProcess, ProcessSpec } from "@codex/exec-backend";
import type { Sandbox } from "@codex/executor-protocol";
import { afterEach, beforeEach } from "vitest";
import { ENV, outputOf, useBackend } from "../../process-host/test/support.js";

/** Why tests that need a sandbox are left out here; undefined where they run. */
export const NO_BUBBLEWRAP =
  process.platform === "linux" ? findProblem() : `bubblewrap is for Linux, not ${process.platform}`;

function findProblem(): string | undefined {
  try {
    execFileSync(
      "/usr/bin/bwrap",
      ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"],
      {
        stdio: "pipe",
      },
    );
    return undefined;
  } catch (error) {
    return `bubblewrap does not work here: ${error instanceof Error ? error.message.trim().split("\n").at(-1) : error}`;
  }
}

type Files = Extract<Extract<Sandbox["permissions"], { type: "managed" }>["file_system"], { type: "restricted" }>;
export type SandboxEntry = Files["entries"][number];

export const READ_ALL: SandboxEntry = { path: { type: "special", value: { kind: "root" } }, access: "read" };
export const entry = (path: string, access: SandboxEntry["access"]): SandboxEntry => ({
  path: { type: "path", path },
  access,
});
export const pattern = (text: string): SandboxEntry => ({
  path: { type: "glob_pattern", pattern: text },
  access: "deny",
});

export const restrict = (
  entries: readonly SandboxEntry[],
  options: { network?: "restricted" | "enabled" } & Omit<Sandbox, "permissions"> = {},
): Sandbox => {
  const { network = "restricted", ...context } = options;
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries: [...entries] }, network },
    ...context,
  };
};

/** A workspace that may be written, beside a directory that may not, and a backend to run commands on. */
export function useSandbox() {
  const host = useBackend();
  let base = "";
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-sandbox-")));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  const start = (argv: string[], spec: Partial<ProcessSpec> = {}): Promise<ExecProcess> =>
    host.backend.start({
      argv,
      cwd: base,
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
      sandbox: restrict([READ_ALL, entry(base, "write")]),
      ...spec,
    });
  return {
    get base() {
      return base;
    },
    get backend() {
      return host.backend;
    },
    start,
    /** Runs a script of bash to its end. */
    async script(text: string, spec: Partial<ProcessSpec> = {}) {
      const process = await start(["bash", "-c", text], spec);
      const output = await outputOf(process);
      return { process, output, outcome: process.outcome };
    },
  };
}
