export {
  AdapterError,
  type AdapterOptions,
  createNodeFetch,
  createTokenReader,
  loadAdapterModel,
} from "@codex/model/node";
export { createHomeFiles, type HomeFilesOptions } from "../context/home-files.js";
export type { ThreadLine, ThreadMeta } from "../threads/rollout-line.js";
export type { ThreadFile } from "../threads/thread-file.js";
export {
  createThreadStore,
  type ListedThread,
  type NewThread,
  type OpenedThread,
  type ThreadStore,
  ThreadStoreError,
  type ThreadStoreOptions,
} from "../threads/thread-store.js";
