import { RpcError } from "@codex/channel";
import type { OpenParams, ReadDirectoryParams, ReadFileParams, Sandbox } from "@codex/exec-server-protocol";
import { displayPath, ERROR_CODES, type HostPath, METHODS, refuseSandbox } from "@codex/exec-server-protocol";
import type { EntryReader, RemoteMounts } from "@codex/native";
import type { ConnectionFileSystem, ConnectionFileSystemOptions, FileSystem } from "./connection-file-system.js";
import { FileHandles } from "./handles/file-handles.js";
import { DEFAULT_FILE_SYSTEM_LIMITS, type FileSystemLimits, MAX_CONCURRENT_READS } from "./limits.js";
import { copy } from "./operations/copy.js";
import { canonicalize, createDirectory } from "./operations/directories.js";
import { getMetadata } from "./operations/metadata.js";
import { readDirectory } from "./operations/read-directory.js";
import { type ReserveBytes, readWholeFile } from "./operations/read-file.js";
import { remove } from "./operations/remove.js";
import { walk } from "./operations/walk.js";
import { MissingWatch } from "./operations/watch-missing.js";
import { writeWholeFile } from "./operations/write-file.js";
import type { PageCacheReader } from "./page-cache/page-cache-reader.js";
import type { Reach } from "./paths/reach.js";
import { createReadWriteLock } from "./read-write-lock.js";
import type { FileMethod } from "./sandboxed/calls.js";
import type { SandboxedFiles, SandboxLease } from "./sandboxed/sandboxed-files.js";

/** Limits and optional collaborators of a file system. */
export interface FileSystemOptions {
  limits?: Partial<FileSystemLimits>;
  /** Runs calls that carry a sandbox; without it they are refused. */
  sandboxed?: SandboxedFiles;
  /** Serves reads from the page cache; without it every call uses the thread pool. Not owned. */
  pageCache?: PageCacheReader;
  /** Reads directories natively where supported; without it Node does. */
  entries?: EntryReader;
  /** Keeps calls on a mount that does not answer from taking all threads of the pool; without it each takes one. */
  mounts?: RemoteMounts;
}

/** Parameters of a call that may carry a sandbox. */
interface SandboxableParams {
  sandbox?: Sandbox | undefined;
  path?: HostPath;
  sourcePath?: HostPath;
  destinationPath?: HostPath;
}

/** Creates the file calls of this host. Nothing is opened until a connection makes its first call. */
export function createFileSystem({ limits, ...places }: FileSystemOptions = {}): FileSystem {
  const host = { ...places, limits: { ...DEFAULT_FILE_SYSTEM_LIMITS, ...limits } };
  return { createConnectionFileSystem: (connection) => createConnectionFileSystem(host, connection) };
}

function createConnectionFileSystem(
  { limits, sandboxed, pageCache, entries, mounts }: Omit<FileSystemOptions, "limits"> & { limits: FileSystemLimits },
  { onMissingChanged }: ConnectionFileSystemOptions,
): ConnectionFileSystem {
  const sandboxes = sandboxed?.connect(limits);
  const lock = createReadWriteLock(MAX_CONCURRENT_READS);
  const handles = new FileHandles();
  const missingWatch = new MissingWatch(onMissingChanged);
  const gone = new AbortController();
  let disposed: Promise<void> | undefined;

  const alive =
    <T>(work: () => Promise<T>) =>
    async (): Promise<T> => {
      gone.signal.throwIfAborted();
      return work();
    };
  const shared = <T>(work: () => Promise<T>): Promise<T> => lock.shared(alive(work));
  const exclusive = <T>(work: () => Promise<T>): Promise<T> => lock.exclusive(alive(work));
  /** Calls that wait for a mount, until the connection is gone. */
  const waiting = new Set<() => void>();
  /** Rejects when the connection is gone; throws if it is already. */
  const reach: Reach = (...paths) => {
    const reached = mounts?.reach(paths.filter((path) => path !== undefined).map(displayPath));
    if (reached === undefined) return undefined;
    gone.signal.throwIfAborted();
    const waited = new Promise<void>((resolve) => {
      waiting.add(resolve);
      void reached.then(() => {
        waiting.delete(resolve);
        resolve();
      });
    });
    return waited.then(() => gone.signal.throwIfAborted());
  };
  const acquire = async (method: string, sandbox: Sandbox | undefined): Promise<SandboxLease | undefined> => {
    if (sandbox === undefined) return undefined;
    if (sandboxes !== undefined) return sandboxes.acquire(method, sandbox);
    refuseSandbox(method, sandbox);
    return undefined;
  };
  /** Runs a call in this process, or unchanged in the helper of the sandbox it carries. */
  const call =
    <Params extends SandboxableParams, Result>(
      withLock: typeof shared,
      name: FileMethod,
      run: (params: Params) => Promise<Result>,
    ) =>
    (params: Params): Promise<Result> =>
      withLock(async () => {
        const lease = await acquire(`fs/${name}`, params.sandbox);
        if (lease === undefined) {
          await reach(params.path, params.sourcePath, params.destinationPath);
          return run(params);
        }
        // The helper implements the same interface, so the result has the same type.
        return (lease.call(name, params) as Promise<Result>).finally(lease.release);
      });
  /** Serves a call from the page cache where that needs no waiting: no sandbox and no earlier write pending. */
  const cachedFirst =
    <Params extends { sandbox?: Sandbox | undefined }, Result>(
      fromCache: (files: PageCacheReader, params: Params) => Result | undefined,
      uncached: (params: Params) => Promise<Result>,
    ) =>
    (params: Params): Promise<Result> => {
      const mayUseCache = params.sandbox === undefined && lock.isFreeForReaders() && !gone.signal.aborted;
      const result = mayUseCache && pageCache !== undefined ? fromCache(pageCache, params) : undefined;
      return result === undefined ? uncached(params) : Promise.resolve(result);
    };
  const open = async (params: OpenParams): Promise<void> => {
    const lease = await acquire(METHODS.fsOpen, params.sandbox);
    try {
      if (lease === undefined) await reach(params.path);
      await handles.open(params, lease);
    } catch (error) {
      lease?.release();
      throw error;
    }
  };
  const dispose = async (): Promise<void> => {
    await Promise.all([lock.exclusive(() => handles.dispose()), sandboxes?.dispose()]);
  };

  /**
   * A call whose result is large. In a sandbox its size is known only once it is here, so one is made at a time. Where the sandbox
   * turns out to restrict nothing, the call runs here, and without a reservation of its own.
   */
  const budgeted =
    <Params extends SandboxableParams>(
      name: FileMethod,
      run: (params: Params, reserve: ReserveBytes | undefined) => Promise<Buffer>,
    ) =>
    (params: Params, reserve: ReserveBytes | undefined): Promise<Buffer> => {
      if (params.sandbox === undefined) {
        return call<Params, Buffer>(shared, name, (asked) => run(asked, reserve))(params);
      }
      return exclusive(async () => {
        const bytes = await call<Params, Buffer>(unlocked, name, (asked) => run(asked, undefined))(params);
        await reserve?.(bytes.length);
        return bytes;
      });
    };

  const { maxReadFileBytes } = limits;
  const readUncached = budgeted<ReadFileParams>("readFile", async ({ path, followSymlinks }, reserve) =>
    readWholeFile(await handles.contentPath(path, followSymlinks), followSymlinks, maxReadFileBytes, reserve),
  );
  const readFile: ConnectionFileSystem["readFile"] = (asked, reserve) =>
    cachedFirst<ReadFileParams, Buffer>(
      (files, params) => (handles.isReplacing ? undefined : files.readFile(params, maxReadFileBytes)),
      (params) => readUncached(params, reserve),
    )(asked);

  return {
    readFile,
    getMetadata: cachedFirst((files, params) => files.getMetadata(params), call(shared, "getMetadata", getMetadata)),
    canonicalize: call(shared, "canonicalize", canonicalize),
    readDirectory: budgeted<ReadDirectoryParams>("readDirectory", (params, reserve) =>
      readDirectory(params, { maxEntries: limits.maxDirectoryEntries, reader: entries, reserve, reach }),
    ),
    walk: call(shared, "walk", (params) => walk(params, limits.maxWalkEntries, gone.signal, reach)),
    readBlock: (params) =>
      shared(async () => {
        await reach(handles.pathOf(params.handleId));
        return handles.readBlock(params);
      }),
    watchMissing: (params) =>
      shared(async () => {
        await reach(...params.missing, params.present);
        return { watching: await missingWatch.watch(params) };
      }),
    writeFile: call(exclusive, "writeFile", writeWholeFile),
    createDirectory: call(exclusive, "createDirectory", createDirectory),
    remove: call(exclusive, "remove", (params) => remove(params, gone.signal)),
    copy: call(exclusive, "copy", (params) => copy(params, gone.signal)),
    open: (params) => exclusive(() => open(params)),
    writeBlock: (params) =>
      exclusive(async () => {
        await reach(handles.pathOf(params.handleId));
        return handles.writeBlock(params);
      }),
    close: ({ handleId }) =>
      exclusive(async () => {
        await reach(handles.pathOf(handleId));
        return handles.close(handleId);
      }),
    dispose: () => {
      gone.abort(new RpcError(ERROR_CODES.internal, "the connection is gone"));
      for (const wake of waiting) wake();
      missingWatch.dispose();
      disposed ??= dispose();
      return disposed;
    },
  };
}

/** Within the lock already. */
const unlocked = <T>(work: () => Promise<T>): Promise<T> => work();
