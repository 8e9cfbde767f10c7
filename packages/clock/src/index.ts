export { type Clock, systemClock } from "./clock.js";
export { waitAtMost, waitUnlessAborted } from "./waits.js";
