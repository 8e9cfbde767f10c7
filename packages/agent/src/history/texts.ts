/** User message appended after an interrupted turn. */
export const TURN_ABORTED = `<turn_aborted>
The turn before this was interrupted. Calls that were open may have done all, some or nothing of what they were for; commands may still be running. Find out before you repeat anything.
</turn_aborted>`;

/** Output of a call that was pending when the turn was interrupted. `known`: what its tool returned. */
export function abortedOutput(seconds: number, known: string): string {
  const rest = known === "" ? "" : `\n${known}`;
  return `Wall time: ${seconds.toFixed(4)} seconds\naborted by user${rest}`;
}

/** Output of a call whose result was not recorded because the agent was killed. `started`: undefined when not recorded. */
export function lostOutput(started: boolean | undefined): string {
  if (started === false)
    return "The call was not started: the program that would have made it ended before. Nothing was run.";
  const doubt = "What it did is unknown, and a command that it started may have been ended with that program or not.";
  const known = started === true ? "The call was started" : "The call may have been started";
  return `aborted: the result of this call was lost: the program that made it ended before it was saved. ${known}. ${doubt} Find out before you repeat it.`;
}

/** The same when the tool could recover the outcome; `known` describes it. */
export const recoveredOutput = (known: string): string =>
  `aborted: the result of this call was lost: the program that made it ended before it was saved.\n${known}`;
