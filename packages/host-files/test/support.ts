import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EncodedResponse, RpcError } from "@codex/channel";
import { toFileUrl } from "@codex/exec-server-protocol";
import { afterEach, beforeEach } from "vitest";
import type { ConnectionFileSystem } from "../src/connection-file-system.js";
import { createFileSystem } from "../src/file-system.js";
import type { FileSystemLimits } from "../src/limits.js";
import { FS_REQUESTS } from "../src/methods.js";

export interface Files {
  /** Absolute path of a fresh folder for each test. */
  readonly root: string;
  path(name: string): string;
  url(name: string): string;
  connection: ConnectionFileSystem;
  /** Ids of `fs/missingChanged`. */
  readonly changes: number[];
  /** Resolves at the next change. */
  nextChange(): Promise<number>;
  connect(limits?: Partial<FileSystemLimits>): ConnectionFileSystem;
  /** The result as it is on the wire; a refusal is `{code, message}`. */
  call(method: string, params: unknown): Promise<unknown>;
}

/** A folder with f.txt (hello), sub/g.txt (g), sub/deep/h.txt (h), empty/, link -> f.txt and dangling -> missing. */
export function useFiles(): Files {
  let root = "";
  const connections: ConnectionFileSystem[] = [];
  const wakers: ((id: number) => void)[] = [];
  const files: Files = {
    get root() {
      return root;
    },
    path: (name) => join(root, name),
    url: (name) => toFileUrl(join(root, name)),
    get connection() {
      return connections[0] ?? files.connect();
    },
    changes: [],
    nextChange: () => new Promise((resolve) => wakers.push(resolve)),
    connect: (limits = {}) => {
      const connection = createFileSystem({ limits }).createConnectionFileSystem({
        onMissingChanged: (watchId) => {
          files.changes.push(watchId);
          for (const waker of wakers.splice(0)) waker(watchId);
        },
      });
      connections.push(connection);
      return connection;
    },
    call: (method, params) => callFiles(files.connection, method, params),
  };
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "exec-server-fs-")));
    mkdirSync(join(root, "sub/deep"), { recursive: true });
    mkdirSync(join(root, "empty"));
    writeFileSync(join(root, "f.txt"), "hello");
    writeFileSync(join(root, "sub/g.txt"), "g");
    writeFileSync(join(root, "sub/deep/h.txt"), "h");
    symlinkSync("f.txt", join(root, "link"));
    symlinkSync("missing", join(root, "dangling"));
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.dispose()));
    files.changes.length = 0;
    rmSync(root, { recursive: true, force: true });
  });
  return files;
}

export async function callFiles(connection: ConnectionFileSystem, method: string, params: unknown): Promise<unknown> {
  try {
    const decode = FS_REQUESTS.get(`fs/${method}`);
    if (decode === undefined) throw new Error(`no method fs/${method}`);
    const result = await decode(params)(connection);
    return result instanceof EncodedResponse ? JSON.parse(Buffer.from(result.encode(1)).toString()).result : result;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { code: error.code, message: error.message };
  }
}

export const base64 = (text: string): string => Buffer.from(text).toString("base64");
