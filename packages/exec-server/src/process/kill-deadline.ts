/** Milliseconds after SIGKILL at which a group that is still there is reported as not gone. */
export const KILL_DEADLINE_MS = 5_000;
