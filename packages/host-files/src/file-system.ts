import { RpcError } from "@codex/channel";
import type { OpenParams, ReadFileParams, Sandbox } from "@codex/exec-server-protocol";
import { ERROR_CODES, METHODS, refuseSandbox } from "@codex/exec-server-protocol";
import type { EntryReader } from "@codex/native";
import type { ConnectionFileSystem, ConnectionFileSystemOptions, FileSystem } from "./connection-file-system.js";
import { FileHandles } from "./handles/file-handles.js";
import { DEFAULT_FILE_SYSTEM_LIMITS, type FileSystemLimits, MAX_CONCURRENT_READS } from "./limits.js";
import { copy } from "./operations/copy.js";
import { canonicalize, createDirectory } from "./operations/directories.js";
import { getMetadata } from "./operations/metadata.js";
import { readDirectory } from "./operations/read-directory.js";
import { readWholeFile } from "./operations/read-file.js";
import { remove } from "./operations/remove.js";
import { walk } from "./operations/walk.js";
import { MissingWatch } from "./operations/watch-missing.js";
import { writeWholeFile } from "./operations/write-file.js";
import type { FilesAtOnce } from "./page-cache/page-cache-reader.js";
import { createOrder } from "./read-write-lock.js";
import type { FileMethod } from "./sandboxed/calls.js";
import type { SandboxedFiles, SandboxPlace } from "./sandboxed/sandboxed-files.js";

export interface FileSystemOptions {
  limits?: Partial<FileSystemLimits>;
  /** Where calls run that carry a sandbox; without, they are refused. */
  sandboxed?: SandboxedFiles;
  /** Answers what it can; without, every call takes the thread pool. Not owned. */
  atOnce?: FilesAtOnce;
  /** Reads directories where it can; without, Node does. */
  entries?: EntryReader;
}

export function createFileSystem({ limits, ...places }: FileSystemOptions = {}): FileSystem {
  const host = { ...places, limits: { ...DEFAULT_FILE_SYSTEM_LIMITS, ...limits } };
  return { createConnectionFileSystem: (connection) => createConnectionFileSystem(host, connection) };
}

function createConnectionFileSystem(
  { limits, sandboxed, atOnce, entries }: Omit<FileSystemOptions, "limits"> & { limits: FileSystemLimits },
  { onMissingChanged }: ConnectionFileSystemOptions,
): ConnectionFileSystem {
  const sandboxes = sandboxed?.connect(limits);
  const order = createOrder(MAX_CONCURRENT_READS);
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
  const shared = <T>(work: () => Promise<T>): Promise<T> => order.shared(alive(work));
  const exclusive = <T>(work: () => Promise<T>): Promise<T> => order.exclusive(alive(work));
  const enter = async (method: string, sandbox: Sandbox | undefined): Promise<SandboxPlace | undefined> => {
    if (sandbox === undefined) return undefined;
    if (sandboxes !== undefined) return sandboxes.enter(method, sandbox);
    refuseSandbox(method, sandbox);
    return undefined;
  };
  /** A call that runs here, or as it is in the sandbox that it carries. */
  const call =
    <Params extends { sandbox?: Sandbox | undefined }, Result>(
      inTurn: typeof shared,
      name: FileMethod,
      run: (params: Params) => Promise<Result>,
    ) =>
    (params: Params): Promise<Result> =>
      inTurn(async () => {
        const place = await enter(`fs/${name}`, params.sandbox);
        if (place === undefined) return run(params);
        // What runs there is this very call.
        return (place.call(name, params) as Promise<Result>).finally(place.leave);
      });
  /** A call that may be answered without waiting, where nothing before it and nothing about it is to be waited for. */
  const quick =
    <Params extends { sandbox?: Sandbox | undefined }, Result>(
      ask: (files: FilesAtOnce, params: Params) => Result | undefined,
      wait: (params: Params) => Promise<Result>,
    ) =>
    (params: Params): Promise<Result> => {
      const isAlone = params.sandbox === undefined && order.isClear() && !gone.signal.aborted;
      const result = isAlone && atOnce !== undefined ? ask(atOnce, params) : undefined;
      return result === undefined ? wait(params) : Promise.resolve(result);
    };
  const open = async (params: OpenParams): Promise<void> => {
    const place = await enter(METHODS.fsOpen, params.sandbox);
    try {
      await handles.open(params, place);
    } catch (error) {
      place?.leave();
      throw error;
    }
  };
  const dispose = async (): Promise<void> => {
    await Promise.all([order.exclusive(() => handles.dispose()), sandboxes?.dispose()]);
  };

  const { maxReadFileBytes } = limits;
  const readFile: ConnectionFileSystem["readFile"] = (asked, reserve) =>
    quick<ReadFileParams, Buffer>(
      (files, params) => (handles.isReplacing ? undefined : files.readFile(params, maxReadFileBytes)),
      async (params) => {
        const read = (inTurn: typeof shared) =>
          call<ReadFileParams, Buffer>(inTurn, "readFile", async ({ path, followSymlinks }) =>
            readWholeFile(await handles.contentPath(path, followSymlinks), followSymlinks, maxReadFileBytes, reserve),
          );
        if (params.sandbox === undefined) return read(shared)(params);
        // How large a file in a sandbox is turns out when it has come: one at a time.
        return exclusive(async () => {
          const bytes = await read((work) => work())(params);
          await reserve?.(bytes.length);
          return bytes;
        });
      },
    )(asked);

  return {
    readFile,
    getMetadata: quick((files, params) => files.getMetadata(params), call(shared, "getMetadata", getMetadata)),
    canonicalize: call(shared, "canonicalize", canonicalize),
    readDirectory: call(shared, "readDirectory", (params) =>
      readDirectory(params, limits.maxDirectoryEntries, entries),
    ),
    walk: call(shared, "walk", (params) => walk(params, limits.maxWalkEntries, gone.signal)),
    readBlock: (params) => shared(() => handles.readBlock(params)),
    watchMissing: (params) => shared(async () => ({ watching: await missingWatch.watch(params) })),
    writeFile: call(exclusive, "writeFile", writeWholeFile),
    createDirectory: call(exclusive, "createDirectory", createDirectory),
    remove: call(exclusive, "remove", (params) => remove(params, gone.signal)),
    copy: call(exclusive, "copy", (params) => copy(params, gone.signal)),
    open: (params) => exclusive(() => open(params)),
    writeBlock: (params) => exclusive(() => handles.writeBlock(params)),
    close: ({ handleId }) => exclusive(() => handles.close(handleId)),
    dispose: () => {
      gone.abort(new RpcError(ERROR_CODES.internal, "the connection is gone"));
      missingWatch.dispose();
      disposed ??= dispose();
      return disposed;
    },
  };
}
