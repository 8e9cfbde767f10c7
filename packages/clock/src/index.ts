export { Backoff, type BackoffOptions, doubled } from "./backoff.js";
export { type Clock, systemClock } from "./clock.js";
export { type Deadline, pause, waitAtMost, waitUnlessAborted, withDeadline } from "./waits.js";
