export { type Launch, type LaunchArguments, readLaunch } from "./launch-options.js";
export { type ExecServerCommandOptions, reportAsCodex, runExecServer } from "./run-exec-server.js";
