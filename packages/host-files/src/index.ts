export { createFilesAtOnce, type FilesAtOnce } from "./at-once/files-at-once.js";
export {
  type ConnectionFileSystem,
  type ConnectionFileSystemOptions,
  createFileSystem,
  type FileSystem,
} from "./file-system.js";
export { DEFAULT_FILE_SYSTEM_LIMITS, type FileSystemLimits } from "./limits.js";
export { FS_REQUESTS } from "./methods.js";
export { readWholeFile } from "./read-file.js";
export type { HelperCommand } from "./sandboxed/helper-command.js";
export { createSandboxedFiles, type SandboxedFilesOptions } from "./sandboxed/helper-pool.js";
export type { SandboxedFiles } from "./sandboxed/sandboxed-files.js";
export { serveFileHelper } from "./sandboxed/serve-file-helper.js";
