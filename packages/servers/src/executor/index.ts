export { type ExecutorCommandOptions, type ExecutorWiring, runExecutor } from "./run-executor.js";
