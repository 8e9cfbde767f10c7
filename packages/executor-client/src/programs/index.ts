export { FIRST_WINDOW_MS } from "../limits.js";
export { CommandFollower, findProgramTools, type RunHooks } from "./command-follower.js";
export { LiveOutputStream } from "./live-output-stream.js";
export { runCommand } from "./run-command.js";
export type { RunCommandRequest, RunningCommand, RunOutcome, SandboxDenial } from "./running-command.js";
export { SplitOutput } from "./split-output.js";
export { type OnOutput, teeOutput } from "./tee-output.js";
