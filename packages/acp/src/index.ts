export { type AcpTerminals, type AcpTerminalsOptions, acpTerminals, type TerminalRequest } from "./terminals.js";
