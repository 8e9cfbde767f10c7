export { type CodexSandboxOptions, codexSandbox } from "./codex-sandbox.js";
