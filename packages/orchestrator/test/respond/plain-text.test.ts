import { describe, expect, it } from "vitest";
import { SessionTable } from "../../src/executors/sessions.js";
import { explainSessions, readPlainResult, renameRunning } from "../../src/respond/plain-text.js";

/** An executor whose session 1000 is 1001 for the model, because another one has 1000. */
function renamed() {
  const sessions = new SessionTable(10);
  const owner = { name: "b" };
  sessions.adopt({ name: "a" }, 1000);
  sessions.adopt(owner, 1000);
  return { sessions, owner };
}

describe("the text of an executor that answers with text alone", () => {
  const header = (id: number) => `Wall time: 1\nProcess running with session ID ${id}\nOutput:\n`;
  const body = "Process running with session ID 7\nOutput:\n";

  it("names the running session in its header, not in the output", () => {
    expect(readPlainResult(header(7) + body)).toEqual({ runningSession: 7, output: body });
    expect(readPlainResult(`Wall time: 1\nOutput:\n${body}`)).toEqual({ runningSession: undefined, output: body });
    expect(readPlainResult("no header")).toEqual({ runningSession: undefined, output: undefined });
  });

  it("gets the session's id here in the header, and nowhere else", () => {
    expect(renameRunning(header(7) + body, 1001)).toBe(header(1001) + body);
  });
});

describe("the text of another tool", () => {
  it("remains, and a note explains the sessions that it names", () => {
    const { sessions, owner } = renamed();
    const text = "1000  running  make";
    const note = "Note: session 1000 of executor `b` is session 1001 here.";
    expect(explainSessions(text, sessions.renamed(owner))).toBe(`${text}\n${note}`);
    expect(explainSessions("10001", sessions.renamed(owner))).toBe("10001");
  });
});
