import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { toFileUrl } from "@codex/exec-server-protocol";
import { createCommandSandbox } from "@codex/sandbox";
import { afterEach, beforeEach } from "vitest";
import type { ConnectionFileSystem } from "../../src/connection-file-system.js";
import { createFileSystem } from "../../src/file-system.js";
import { createSandboxedFiles } from "../../src/sandboxed/helper-pool.js";
import { callFiles } from "../support.js";

export interface WireEntry {
  path: unknown;
  access: "read" | "write" | "deny";
}

/** A `sandbox` member as clients send it. */
export const wireSandbox = (entries: readonly WireEntry[], more: object = {}) => ({
  permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
  windowsSandboxLevel: "disabled",
  ...more,
});

export const ROOT: WireEntry = { path: { type: "special", value: { kind: "root" } }, access: "read" };

/**
 * `w` may be written, but for `w/secret` and `w/closed`, which may not be read either; `o` beside it may be read. Not below the
 * directory for temporary files, which other servers open as well.
 */
export function makeTree(): string {
  const root = realpathSync(mkdtempSync(join("/var/tmp", "codex-boxed-")));
  for (const directory of ["w/sub", "w/.git/hooks", "w/closed", "o"])
    mkdirSync(join(root, directory), { recursive: true });
  const contents = { "w/f": "hello", "w/.git/config": "c", "w/secret": "s", "w/closed/x": "x", "o/f": "out" };
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(root, name), text);
  symlinkSync("../o/f", join(root, "w/link-out"));
  symlinkSync("../o", join(root, "w/dirlink-out"));
  symlinkSync("secret", join(root, "w/link-secret"));
  symlinkSync(".codex", join(root, "w/link-codex"));
  return root;
}

export const treeSandbox = (root: string) => {
  const at = (name: string, access: WireEntry["access"]): WireEntry => ({
    path: { type: "path", path: toFileUrl(join(root, name)) },
    access,
  });
  return wireSandbox([ROOT, at("w", "write"), at("w/secret", "deny"), at("w/closed", "deny")], {
    cwd: toFileUrl(join(root, "w")),
  });
};

/** A fresh tree for each test, and connections to it. */
export function useSandboxedFiles() {
  let root = "";
  const connections: ConnectionFileSystem[] = [];
  beforeEach(() => {
    root = makeTree();
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.dispose()));
    rmSync(root, { recursive: true, force: true });
  });
  const connect = (sandbox = createCommandSandbox()): ConnectionFileSystem => {
    const sandboxed = createSandboxedFiles({ sandbox });
    const connection = createFileSystem({ sandboxed }).createConnectionFileSystem({ onMissingChanged: () => {} });
    connections.push(connection);
    return connection;
  };
  return {
    get root() {
      return root;
    },
    path: (name: string) => join(root, name),
    url: (name: string) => toFileUrl(join(root, name)),
    connect,
    /** Of the first connection: the result, or `{code, message}`. */
    call: (method: string, params: object, sandbox: unknown = treeSandbox(root)) =>
      callFiles(connections[0] ?? connect(), method, { ...params, sandbox }),
    callOn: (connection: ConnectionFileSystem, method: string, params: object) =>
      callFiles(connection, method, { ...params, sandbox: treeSandbox(root) }),
  };
}

/** Sandboxes that this process has started and that are still there, by the number of their process. */
export const listSandboxes = (): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!(pid > 0)) return false;
      try {
        const [, name, rest] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))!;
        return name === "bwrap" && rest!.startsWith(`S ${process.pid} `);
      } catch {
        return false;
      }
    });
