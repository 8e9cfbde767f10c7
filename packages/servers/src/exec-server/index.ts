export { type ExecServerCommandOptions, reportAsCodex, runExecServer } from "./run-exec-server.js";
