export { MAX_SCRIPT_BYTES } from "./limits.js";
export { joinWords, splitWords } from "./line-words.js";
export { findLiteralCommands, findScriptCommands, type LiteralCommands } from "./literal-commands.js";
export type { NestedCommand, NestedCommands } from "./nested-commands.js";
export { createLazyShellParser, loadShellParser, type ShellParser, type ShellParserOptions } from "./parser.js";
export { splitCommand, splitScript } from "./split.js";
export type { SyntaxNode, SyntaxTree } from "./syntax-tree.js";
export { findNestedCommands } from "./wrappers.js";
