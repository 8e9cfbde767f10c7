import type { Conversation, ScriptedCall } from "@codex/agent/testing";

/** `exec_command`; its result has the output, and how the program ended or the number of its session. */
export const exec = (cmd: string, more: object = {}): ScriptedCall => ({
  name: "exec_command",
  args: { cmd, login: false, max_output_tokens: 1_000_000, ...more },
});

/** `write_stdin`; no characters: a poll, which the client answers after five seconds or at the end of the program. */
export const type = (session: number, chars: string, more: object = {}): ScriptedCall => ({
  name: "write_stdin",
  args: { session_id: session, chars, max_output_tokens: 1_000_000, yield_time_ms: 500, ...more },
});

/** Number of the session that a result names. */
export const sessionOf = (result: string): number => Number(/session ID (\d+)/.exec(result)?.[1]);

/** The output in a result, without what the client tells about it. */
export const outputOf = (result: string): string => result.slice(result.indexOf("\nOutput:\n") + "\nOutput:\n".length);

/** Types, and polls until all that was put out since has the pattern or the program is over. */
export function* typeUntil(session: number, chars: string, pattern: RegExp): Generator<ScriptedCall, string, string> {
  let result = yield type(session, chars);
  let output = outputOf(result);
  while (!pattern.test(output) && result.includes("session ID")) {
    result = yield type(session, "");
    output += outputOf(result);
  }
  return output;
}

/** Starts a program on a terminal, and waits until it put out the pattern. Returns its session. */
export function* openTerminal(cmd: string, pattern: RegExp): Generator<ScriptedCall, number, string> {
  const result = yield exec(cmd, { tty: true, yield_time_ms: 500 });
  const session = sessionOf(result);
  if (!pattern.test(result)) yield* typeUntil(session, "", pattern);
  return session;
}

/** One call after the other. Their results are added to `results`. */
export function* inTurn(calls: readonly ScriptedCall[], results: string[] = []): Conversation {
  for (const call of calls) results.push(yield call);
}
