import type { AgentFiles } from "@codex/agent";

/** Files that are opened by their first call. */
export interface LazyFiles {
  readonly files: AgentFiles;
  /** Closes what was opened. Idempotent. */
  close(): Promise<void>;
}

/** @param open is called once, by the first call; when it fails, each call fails with its error */
export function lazyFiles(open: () => Promise<{ files: AgentFiles; close(): Promise<void> }>): LazyFiles {
  let opened: ReturnType<typeof open> | undefined;
  const get = async (): Promise<AgentFiles> => {
    opened ??= open();
    return (await opened).files;
  };
  return {
    files: {
      readFile: async (...args) => (await get()).readFile(...args),
      writeFile: async (...args) => (await get()).writeFile(...args),
      createDirectory: async (...args) => (await get()).createDirectory(...args),
      getMetadata: async (...args) => (await get()).getMetadata(...args),
      canonicalize: async (...args) => (await get()).canonicalize(...args),
      remove: async (...args) => (await get()).remove(...args),
      copy: async (...args) => (await get()).copy(...args),
      walk: async (...args) => (await get()).walk(...args),
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** Files that nothing may be read from. */
export function refuseFiles(reason: string): AgentFiles {
  const refuse = () => Promise.reject(new Error(reason));
  const reading = { readFile: refuse, getMetadata: refuse, canonicalize: refuse, walk: refuse };
  return { ...reading, writeFile: refuse, createDirectory: refuse, remove: refuse, copy: refuse };
}
