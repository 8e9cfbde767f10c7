export { AdapterError, type AdapterOptions, loadAdapterModel } from "../adapters/load-adapter.js";
export { createHomeFiles, type HomeFilesOptions } from "../context/home-files.js";
export { createFilePolicy, type FilePolicyOptions } from "../file-policy/create-file-policy.js";
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
export { createTokenReader } from "../threads/token-command.js";
export { createNodeFetch } from "./node-fetch.js";
