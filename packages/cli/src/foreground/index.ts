export { EXIT } from "./exit-codes.js";
export { endAs, type Followed, type FollowProgramOptions, followProgram } from "./follow-program.js";
export { createOutages, type Outages } from "./outages.js";
export type { Say } from "./pass-through.js";
export { isOutputLost, watchOutput, written } from "./standard-output.js";
export { DEFAULT_SIZE, getTerminalSize } from "./terminal.js";
