import { describe, expect, it } from "vitest";
import { SessionTable } from "../../src/executors/sessions.js";

describe("SessionTable", () => {
  it("knows a session again when its id is reused, and when its executor is resumed", () => {
    const table = new SessionTable(2);
    const owner = { name: "a" };
    const session = table.adopt(owner, 1);
    session.state = { kind: "ended", outcome: undefined };
    expect(table.adopt(owner, 1)).toBe(session);
    expect(session.state).toEqual({ kind: "live" });
    table.lose(owner, "gone");
    expect(session.state).toEqual({ kind: "lost", reason: "gone" });
    table.restore(owner);
    expect(session.state).toEqual({ kind: "live" });
  });

  it("finds an id for the model at the end of the numbers", () => {
    const table = new SessionTable(10);
    const ids = ["a", "b", "c", "d"].map((name) => table.adopt({ name }, Number.MAX_SAFE_INTEGER).id);
    expect(ids).toEqual([Number.MAX_SAFE_INTEGER, 1000, 1001, 1002]);
  });
});
