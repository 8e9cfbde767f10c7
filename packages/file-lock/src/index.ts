export { FileLockError, type FileLockOptions, withFileLock } from "./file-lock.js";
export { OutputFileError, type OutputFileOptions, openOutputFile, openOutputFileSync } from "./output-file.js";
