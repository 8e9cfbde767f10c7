export { type FileLockOptions, withFileLock } from "./file-lock.js";
