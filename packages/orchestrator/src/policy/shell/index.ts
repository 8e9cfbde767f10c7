export type { Inner, Runs } from "./inner.js";
export { type LiteralCommands, literalCommands, literalScript } from "./literal-commands.js";
export {
  createLazyShellParser,
  loadShellParser,
  type ShellParser,
  type ShellParserFiles,
  type ShellParserOptions,
} from "./parser.js";
export { splitCommand, splitScript } from "./split.js";
export { whatMayRun } from "./wrappers.js";
