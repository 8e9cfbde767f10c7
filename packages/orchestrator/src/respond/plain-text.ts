import type { Session } from "../executors/sessions.js";

/**
 * The result of a unified-exec call of an executor that answers with text alone. The protocol prescribes the lines of this text:
 * fields, one of which may name the running session, then `Output:` and the output.
 */
export interface PlainResult {
  /** The executor's id of the running session. */
  runningSession: number | undefined;
  /** What follows `Output:`. */
  output: string | undefined;
}

export function readPlainResult(text: string): PlainResult {
  const header = OUTPUT.exec(text);
  const id = RUNNING.exec(text.slice(0, header?.index))?.[1];
  return {
    runningSession: id === undefined ? undefined : Number(id),
    output: header === null ? undefined : text.slice(header.index + header[0].length),
  };
}

/** The text with another id of the running session. */
export const renameRunning = (text: string, id: number): string =>
  text.replace(RUNNING, `Process running with session ID ${id}`);

const OUTPUT = /^Output:(?:\n|$)/m;
const RUNNING = /^Process running with session ID (\d{1,15})$/m;

/** Text of another tool remains unchanged; if it may contain the executor's id of a session, a note explains it. */
export function explainSessions(text: string, renamed: readonly Session[]): string {
  const named = renamed
    .filter(({ processId }) => new RegExp(`(?<!\\d)${processId}(?!\\d)`).test(text))
    .map(
      ({ id, processId, owner }) => `Note: session ${processId} of executor \`${owner.name}\` is session ${id} here.`,
    );
  return [text, ...named].join("\n");
}
