import type { ToolCallResult } from "@codex/orchestrator";
import type { Cut, Direction } from "@codex/testkit";
import { describe, expect, it } from "vitest";
import { type Stage, sessionOf, useStages } from "./support.js";

/** Appends a line for its start and for each line it reads, and says so. */
const program = (path: string) =>
  `echo run >>${path}; echo ready; while read line; do echo "read $line" >>${path}; echo "got $line"; done`;

/** Every kind of call, one after the other. */
async function play({ orchestrator, effects, output }: Stage): Promise<ToolCallResult[]> {
  const onOutput = output.take;
  const call = (name: string, args: object) => orchestrator.callTool(name, args, { onOutput });
  const started = await call("exec_command", { cmd: program(effects.path), stdin: "open", until: "output" });
  const session_id = sessionOf(started);
  const one = await call("write_stdin", { session_id, chars: "one\n", until: "output" });
  const two = await call("write_stdin", { session_id, chars: "two\n", until: "output" });
  const counted = await orchestrator.callTool("count", {});
  const listed = await orchestrator.callTool("list_sessions", {});
  const killed = await orchestrator.callTool("kill_session", { session_id });
  return [started, one, two, counted, listed, killed];
}

function expectAsIfUncut({ effects, output, events }: Stage, results: ToolCallResult[]): void {
  const text = results.map((result) => result.text).join("\n---\n");
  expect(
    results.map(({ status }) => status),
    text,
  ).toEqual(Array(6).fill("success"));
  expect(effects.list()).toEqual(["run", "read one", "read two", "tool"]);
  expect(output.faults).toEqual([]);
  expect(output.bytes.toString()).toBe("ready\ngot one\ngot two\n");
  const shown = results.slice(0, 3).map((result) => result.text.slice(result.text.indexOf("Output:\n") + 8));
  expect(shown.join("")).toBe("ready\ngot one\ngot two\n");
  expect(results[5]?.structured).toMatchObject({ running: true, gone: true });
  expect(events.filter((event) => event === "renewed" || event === "gone")).toEqual([]);
}

describe("a cut at any message", () => {
  const open = useStages();

  it.each<Direction>(["sent", "received"])(
    "is not noticed by the caller: %s",
    { timeout: 240_000 },
    async (direction) => {
      const uncut = await open();
      expectAsIfUncut(uncut, await play(uncut));
      const last = uncut.relay.counts[direction];
      // The first message is the introduction, before which there is nothing to resume.
      for (let message = 2; message <= last; message++) {
        for (const delivered of [false, true]) await playWith([{ direction, message, delivered }]);
      }
    },
  );

  it("twice, in both directions, is not noticed either", { timeout: 240_000 }, async () => {
    for (let first = 3; first <= 9; first++) {
      for (const gap of [1, 2, 3]) {
        await playWith([
          { direction: "received", message: first, delivered: gap === 2 },
          { direction: "received", message: first + gap, delivered: true },
          { direction: "sent", message: first + gap, delivered: false },
        ]);
      }
    }
  });

  async function playWith(cuts: Cut[]): Promise<void> {
    const stage = await open();
    for (const cut of cuts) stage.relay.cutAt(cut);
    const results = await play(stage);
    try {
      expectAsIfUncut(stage, results);
    } catch (error) {
      throw new Error(`with ${JSON.stringify(cuts)}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
    if (stage.relay.connections > 1) expect(stage.events).toContain("online");
    await stage.orchestrator.close();
  }
});
