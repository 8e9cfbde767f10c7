import type { AgentEvent } from "@codex/agent";
import { describe, expect, it } from "vitest";
import { ConversationView } from "../../src/interactive/conversation-view.js";
import { LiveTail } from "../../src/interactive/live-tail.js";

const USAGE = {
  inputTokens: 10,
  cachedInputTokens: 2,
  cacheWriteInputTokens: 0,
  outputTokens: 5,
  reasoningOutputTokens: 0,
  totalTokens: 15,
};
const command = (id: string, more: object = {}) => ({
  id,
  status: "in_progress" as const,
  kind: "command" as const,
  callId: id,
  command: `make ${id}`,
  shownCommand: `make ${id}`,
  cwd: undefined,
  environment: undefined,
  output: "",
  outputBytes: 0,
  exitCode: undefined,
  outcome: undefined,
  ...more,
});
const delta = (itemId: string, text: string, of: "text" | "output" = "text"): AgentEvent => ({
  type: "item_delta",
  itemId,
  of,
  text,
});
const said = (id: string, text: string): AgentEvent => ({
  type: "item_completed",
  item: { id, status: "completed", kind: "message", text },
});
const END: AgentEvent = { type: "turn_completed", usage: USAGE, turnUsage: USAGE };

async function show(...events: AgentEvent[]) {
  let text = "";
  const log = {
    closed: new AbortController().signal,
    write: async (more: string) => {
      text += more;
    },
  };
  const paint = (_style: string, plain: string) => plain;
  const view = new ConversationView({ log, onChange: () => {}, paint, clock: { now: () => 0 } });
  for (const event of [{ type: "turn_started", turnId: "t" } as const, ...events]) await view.show(event);
  return { text, rows: view.rows(80) };
}

describe("a turn as it is lived through", () => {
  it("lets whole lines of a message stay, draws the last one, and repeats none", async () => {
    const pieces = [delta("i1", "one\ntw"), delta("i1", "o\nthr")];
    expect(await show(...pieces)).toMatchObject({ text: "codex\none\ntwo\n", rows: ["thr", "• working (0 s)"] });
    const { text } = await show(...pieces, delta("i1", "ee"), said("i1", "one\ntwo\nthree"), END);
    expect(text).toBe("codex\none\ntwo\nthree\n10 tokens in (2 cached), 5 out, 0 ms\n");
  });

  it("shows a message that came without pieces, or with others", async () => {
    expect((await show(said("i1", "whole"))).text).toBe("codex\nwhole\n");
    expect((await show(delta("i1", "ab"), said("i1", "xy"))).text).toBe("codex\nab\ncodex\nxy\n");
  });

  it("says of text that is discarded that it is", async () => {
    const retry: AgentEvent = { type: "retry", message: "Reconnecting... 1/5 (cut)", discarded: ["i1"] };
    const { text } = await show(delta("i1", "half a"), retry, delta("i2", "whole"), said("i2", "whole"));
    expect(text).toBe(
      "codex\nhalf a\n! the text above was not completed; what follows replaces it\n! Reconnecting... 1/5 (cut)\ncodex\nwhole\n",
    );
  });

  it("draws the last lines of commands that run, and keeps the first and last ones of their output", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
    const started: AgentEvent = { type: "item_started", item: command("a") };
    const { rows } = await show(started, delta("a", `${lines}\npart`, "output"));
    expect(rows).toEqual(["  line 95", "  line 96", "  line 97", "  line 98", "  line 99", "  part", "• make a (0 s)"]);
    const done = command("a", { status: "completed", exitCode: 0, output: lines });
    const { text } = await show(started, { type: "item_completed", item: done });
    expect(text).toContain("line 19\n… 60 lines are not shown here\nline 80\n");
  });

  it("draws a few lines of each of several commands", async () => {
    const all = ["a", "b", "c"].flatMap((id): AgentEvent[] => [
      { type: "item_started", item: command(id) },
      delta(id, `${id}1\n${id}2\n${id}3\n`, "output"),
    ]);
    const { rows } = await show(...all);
    expect(rows).toHaveLength(9);
  });

  it("lets nothing of a model or program act on the terminal", async () => {
    const hostile = "a\u001b[2J\u001b]0;x\u0007\u202eb\u0000";
    const { text, rows } = await show(
      { type: "item_started", item: command("a", { command: hostile, shownCommand: hostile }) },
      delta("a", hostile, "output"),
      delta("i1", `${hostile}\n${hostile}`),
    );
    for (const character of ["\u0000", "\u0007", "\u001b", "\u202e"]) {
      expect(text + rows.join("\n")).not.toContain(character);
    }
  });
});

describe("the last lines of output", () => {
  it.each([
    ["10 %\r20 %\r30 %", ["30 %"]],
    ["10 %\r20 %\r", ["20 %"]],
    ["one\r\ntwo\r\n", ["one", "two"]],
    ["\u001b[32mgreen\u001b[0m\u001b]0;title\u0007", ["green"]],
  ])("of %j", (text, expected) => {
    const whole = new LiveTail(3);
    whole.append(text);
    expect(whole.lines).toEqual(expected);
  });

  it("stay few and short", () => {
    const tail = new LiveTail(2);
    for (let count = 0; count < 1_000; count += 1) tail.append(`${"x".repeat(1_000)}${count % 10 === 0 ? "\n" : ""}`);
    expect(tail.lines.join("").length).toBeLessThanOrEqual(2_000);
  });
});
