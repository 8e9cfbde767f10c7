export { FIRST_WINDOW_MS } from "../limits.js";
export { CommandFollower, findProgramTools, type RunHooks } from "./command-follower.js";
export { LiveOutputStream } from "./live-output-stream.js";
export { type LeftCommand, runCommand, startDetached } from "./run-command.js";
export type { RunCommandRequest, RunningCommand, RunOutcome, SandboxDenial } from "./running-command.js";
export { openSessionInput, type SessionInput } from "./session-input.js";
export { SplitOutput } from "./split-output.js";
export { type OnOutput, teeOutput } from "./tee-output.js";
