import { describe, expect, it } from "vitest";
import { SessionTable } from "../../src/executors/sessions.js";
import { explainSessions, runningSession, translateResult, translateSentence } from "../../src/respond/session-text.js";

/** An executor whose session 1000 is 1001 for the model, because another one has 1000. */
function renamed() {
  const sessions = new SessionTable(10);
  const owner = { name: "b" };
  sessions.adopt({ name: "a" }, 1000);
  sessions.adopt(owner, 1000);
  return { sessions, owner };
}

describe("sessions in text", () => {
  it.each([
    ["unknown session 1000", "unknown session 1001"],
    ["Session `1000` has ended", "Session `1001` has ended"],
    ["read_output with session_id 1000 and from 5", "read_output with session_id 1001 and from 5"],
    ["session ID: 1000.", "session ID: 1001."],
    ["1000 bytes of session 2000", "1000 bytes of session 2000"],
    ["session 10000", "session 10000"],
  ])("%j reads %j", (text, expected) => {
    const { sessions, owner } = renamed();
    expect(translateSentence(text, owner, sessions, false)).toBe(expected);
  });

  it("are translated in front of the output and where it tells of a cut, never in the output", () => {
    const { sessions, owner } = renamed();
    const header = (id: number) => `Process running with session ID ${id}\nNote: see session_id ${id}\nOutput:\n`;
    const cut = (id: number) => `Warning: truncated output (original token count: 9)\nread session_id ${id}\n\n`;
    const body = "session_id 1000\n";
    const translate = (text: string, wasCut: boolean) => translateResult(text, wasCut, owner, sessions);
    expect(translate(header(1000) + body, false)).toBe(header(1001) + body);
    expect(translate(header(1000) + cut(1000) + body, true)).toBe(header(1001) + cut(1001) + body);
    expect(translate(header(1000) + cut(1000) + body, false)).toBe(header(1001) + cut(1000) + body);
  });

  it("become known when they are new, so that they can be read under an id of their own", () => {
    const { sessions, owner } = renamed();
    sessions.adopt({ name: "a" }, 1002);
    const text = "Process exited with code 0\nNote: read_output with session_id 1002 reads later output\nOutput:\n";
    expect(translateResult(text, false, owner, sessions)).toContain("session_id 1003 reads");
    expect(sessions.get(1003)).toMatchObject({ owner, processId: 1002, state: { kind: "ended" } });
  });

  it("are found in a header alone", () => {
    expect(runningSession("Wall time: 1\nProcess running with session ID 7\nOutput:\n")).toBe(7);
    expect(runningSession("Wall time: 1\nOutput:\nProcess running with session ID 7\n")).toBeUndefined();
  });

  it("are explained in the text of another tool", () => {
    const { sessions, owner } = renamed();
    const text = "1000  running  make";
    const note = "Note: session 1000 of executor `b` is session 1001 here.";
    expect(explainSessions(text, sessions.renamed(owner))).toBe(`${text}\n${note}`);
    expect(explainSessions("10001", sessions.renamed(owner))).toBe("10001");
  });
});
