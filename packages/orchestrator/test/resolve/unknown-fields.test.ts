import { describe, expect, it } from "vitest";
import { describeSlips, findMisspelt } from "../../src/resolve/unknown-fields.js";

const tool = {
  name: "kill_session",
  description: "",
  inputSchema: {
    type: "object",
    properties: { session_id: { type: "integer" }, from: { type: "integer" } },
    required: ["session_id"],
  },
  contract: undefined,
};

describe("a tool that takes arguments as they are", () => {
  it.each([{ sesion_id: 1 }, { sessionId: 1 }, { "session-id": 1 }, { session: 1 }])(
    "is not called without what it needs, given under another name: %j",
    (args) => {
      expect(findMisspelt(args, tool)).toEqual({
        kind: "rejected",
        field: "session_id",
        problem: `it is missing (there is no field \`${Object.keys(args)[0]}\`; did you mean \`session_id\`?)`,
      });
    },
  );

  it.each([{}, { wait_ms: 1 }, { session_id: 1, sesion_id: 1 }, { from: 1 }])("judges %j itself", (args) => {
    expect(findMisspelt(args, tool)).toBeUndefined();
  });

  it("gets what looks like a slip, which is said, and what it may know silently", () => {
    const said = "there is no field `form`, it was ignored; did you mean `from`?";
    expect(describeSlips({ session_id: 1, form: 3, wait_ms: 2 }, tool)).toEqual([said]);
  });

  it("need not describe what it takes", () => {
    const open = { ...tool, inputSchema: { type: "object" } };
    expect([findMisspelt({ a: 1 }, open), describeSlips({ a: 1 }, open)]).toEqual([undefined, []]);
  });
});
