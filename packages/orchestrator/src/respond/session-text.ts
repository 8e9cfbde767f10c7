import type { SessionOwner } from "@codex/executor-client";
import type { Session, SessionTable } from "../executors/sessions.js";

/**
 * Replaces the session ids in a sentence of an executor by the ids for the model. `adopt`: new ids are registered, so that the
 * model's next call with them reaches this executor.
 */
export function translateSentence(text: string, owner: SessionOwner, sessions: SessionTable, adopt: boolean): string {
  return text.replace(SESSION, (all, before: string, id: string) => {
    const session = sessions.find(owner, Number(id)) ?? (adopt ? adoptEnded(owner, Number(id), sessions) : undefined);
    return session === undefined ? all : `${before}${session.id}`;
  });
}

/** The same for the result of a unified-exec call: the part before the output, which remains unchanged. */
export function translateResult(text: string, wasCut: boolean, owner: SessionOwner, sessions: SessionTable): string {
  const end = endOfPreamble(text, wasCut);
  return translateSentence(text.slice(0, end), owner, sessions, true) + text.slice(end);
}

/** The executor's id of the running session, from the header. */
export function runningSession(text: string): number | undefined {
  const id = RUNNING.exec(text.slice(0, endOfPreamble(text, false)))?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Text of another tool remains unchanged; if it may contain the executor's id of a session, a note explains it. */
export function explainSessions(text: string, renamed: readonly Session[]): string {
  const named = renamed
    .filter(({ processId }) => new RegExp(`(?<!\\d)${processId}(?!\\d)`).test(text))
    .map(
      ({ id, processId, owner }) => `Note: session ${processId} of executor \`${owner.name}\` is session ${id} here.`,
    );
  return [text, ...named].join("\n");
}

/** `session 5`, `session ID 5`, `session_id 5`, also quoted. */
const SESSION = /(\bsession(?:[ _]id)?:? [`'"]?)(\d{1,15})(?!\d)/gi;
const RUNNING = /^Process running with session ID (\d{1,15})$/m;

/** The fields up to the line `Output:`, and the paragraph after it that describes what was cut. */
function endOfPreamble(text: string, wasCut: boolean): number {
  const header = /^Output:(\n|$)/m.exec(text);
  if (header === null) return text.length;
  const body = header.index + header[0].length;
  if (!wasCut || !text.startsWith("Warning: truncated output (", body)) return body;
  const paragraph = text.indexOf("\n\n", body);
  return paragraph === -1 ? body : paragraph;
}

/** Its id is registered because its output can still be read; a running session is registered elsewhere. */
function adoptEnded(owner: SessionOwner, processId: number, sessions: SessionTable): Session {
  const session = sessions.adopt(owner, processId);
  session.state = { kind: "ended", outcome: undefined };
  return session;
}
