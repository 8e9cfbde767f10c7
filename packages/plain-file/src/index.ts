export {
  openPlainFile,
  openPlainFileSync,
  PlainFileError,
  type ReadLimit,
  readNamedFileSync,
  readPlainFile,
  readPlainFileSync,
} from "./plain-file.js";
