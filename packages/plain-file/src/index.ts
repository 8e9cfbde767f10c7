export {
  openPlainFile,
  openPlainFileSync,
  PlainFileError,
  type ReadLimit,
  readPlainFile,
  readPlainFileSync,
} from "./plain-file.js";
