export { type CodexSession, type CodexSessionOptions, codexSession } from "./session.js";
export { type CodexTools, type CodexToolsOptions, codexTools } from "./tools.js";
