export { FileLockError, type FileLockOptions, withFileLock } from "./file-lock.js";
