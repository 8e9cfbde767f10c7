export { type AcpFiles, type AcpFilesOptions, acpFiles } from "./files.js";
export { type AcpTerminals, type AcpTerminalsOptions, acpTerminals, type TerminalRequest } from "./terminals.js";
