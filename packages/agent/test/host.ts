import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createMemoryChannelPair } from "@codex/channel";
import { createEnvironmentInfo, createExecServer } from "@codex/exec-server";
import { ExecServerClient, type RemoteFileSystem } from "@codex/exec-server-client";
import type { AgentFiles } from "@codex/file-tools";
import { createFileSystem, createSandboxedFiles } from "@codex/host-files";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

/** An entry of a tree: text, bytes, text with permissions, a link, a hard link, an empty directory. */
export type Entry =
  | string
  | { base64: string }
  | { text: string; mode: number }
  | { link: string }
  | { hard: string }
  | { dir: true };

/** Files of a real directory, behind an exec-server in this process. */
export interface Host {
  /** Made anew for each test, not below the directory for temporary files. */
  readonly root: string;
  readonly files: RemoteFileSystem;
  /** Names of the calls since the test began. */
  readonly calls: string[];
  /** The same files, with each call noted in `calls`; `before` may fail it. */
  watch(before?: (name: string, path: string, index: number) => unknown): AgentFiles;
  put(tree: Readonly<Record<string, Entry>>): void;
  /** Everything below the root. */
  tree(): Record<string, Entry>;
}

/** A host for the tests of a file. */
export function useHost(): Host {
  const backend = createLocalBackend();
  let client: ExecServerClient;
  let close: () => Promise<void>;
  let root = "";
  const calls: string[] = [];
  beforeAll(async () => {
    const sandboxed = createSandboxedFiles({ sandbox: createCommandSandbox() });
    const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
    const server = createExecServer({
      backend,
      environment: { info },
      fileSystem: createFileSystem({ sandboxed }),
    });
    const [near, far] = createMemoryChannelPair();
    const served = server.serve(far, { transport: { kind: "stdio" } });
    client = await ExecServerClient.connect({ canReopen: false, open: async () => near });
    close = async () => {
      await client.close();
      await served;
      await server.close();
      await backend.close();
    };
  });
  afterAll(() => close());
  beforeEach(() => {
    root = realpathSync(mkdtempSync("/var/tmp/codex-agent-"));
    calls.length = 0;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  return {
    get root() {
      return root;
    },
    get files() {
      return client.fileSystem;
    },
    calls,
    watch: (before) => watchFiles(client.fileSystem, calls, before),
    put: (tree) => putTree(root, tree),
    tree: () => readTree(root),
  };
}

/** Every call is noted by its name and path, and handed to `before` with its number. */
function watchFiles(
  files: AgentFiles,
  calls: string[],
  before: (name: string, path: string, index: number) => unknown = () => {},
): AgentFiles {
  return new Proxy(files, {
    get(target, name: keyof AgentFiles) {
      const call = target[name].bind(target) as (path: string, ...more: unknown[]) => Promise<unknown>;
      return async (path: string, ...more: unknown[]) => {
        calls.push(`${name} ${path}`);
        await before(name, path, calls.length - 1);
        return call(path, ...more);
      };
    },
  });
}

function putTree(root: string, tree: Readonly<Record<string, Entry>>): void {
  for (const [name, entry] of Object.entries(tree)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof entry === "string") writeFileSync(path, entry);
    else if ("base64" in entry) writeFileSync(path, Buffer.from(entry.base64, "base64"));
    else if ("link" in entry) symlinkSync(entry.link, path);
    else if ("hard" in entry) linkSync(join(root, entry.hard), path);
    else if ("dir" in entry) mkdirSync(path, { recursive: true });
    else {
      writeFileSync(path, entry.text);
      chmodSync(path, entry.mode);
    }
  }
}

function readTree(root: string, below = ""): Record<string, Entry> {
  const tree: Record<string, Entry> = {};
  for (const name of existsSync(join(root, below)) ? readdirSync(join(root, below)) : []) {
    const path = join(below, name);
    const info = lstatSync(join(root, path));
    if (info.isSymbolicLink()) tree[path] = { link: readlinkSync(join(root, path)) };
    else if (info.isDirectory()) Object.assign(tree, withEmpty(path, readTree(root, path)));
    else tree[path] = toEntry(readFileSync(join(root, path)), info.mode & 0o777);
  }
  return tree;
}

const withEmpty = (path: string, tree: Record<string, Entry>): Record<string, Entry> =>
  Object.keys(tree).length === 0 ? { [path]: { dir: true } } : tree;

function toEntry(bytes: Buffer, mode: number): Entry {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return { base64: bytes.toString("base64") };
  return mode === (0o666 & ~process.umask()) ? text : { text, mode };
}
