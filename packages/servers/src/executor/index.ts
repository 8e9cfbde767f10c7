export { type ExecutorCommandOptions, type ExecutorWiring, type RemoteHost, runExecutor } from "./run-executor.js";
