export {
  openPlainFile,
  openPlainFileSync,
  PlainFileError,
  type ReadLimit,
  readNamedFileSync,
  readPlainFile,
  readPlainFileSync,
} from "./plain-file.js";
export { type WatchedFiles, type WatchLog, watchFiles } from "./watch-files.js";
