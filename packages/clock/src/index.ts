export { type Clock, systemClock } from "./clock.js";
export { type Deadline, pause, waitAtMost, waitUnlessAborted, withDeadline } from "./waits.js";
