import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { STDIO, useBackend } from "../../../process-host/test/support.js";
import { SOURCES_PER_TURN } from "../../src/limits.js";
import { ReadTurns } from "../../src/output/read-turns.js";

describe("turns of sources with more data than one read returns", () => {
  const host = useBackend();

  it("are given to a few in each turn of the event loop, in the order of their calls", async () => {
    const turns = new ReadTurns();
    const gone: number[] = [];
    const sources = Array.from({ length: SOURCES_PER_TURN * 3 }, (_, index) => () => void gone.push(index));
    const entered = sources.map((go) => turns.enter(go));
    expect(entered.filter(Boolean).length).toBe(SOURCES_PER_TURN);
    expect(turns.enter(sources[0]!)).toBe(true); // again in the same turn
    turns.leave(sources[SOURCES_PER_TURN]!);
    let most = 0;
    for (let before = 0; gone.length < SOURCES_PER_TURN * 2 - 1; before = gone.length) {
      most = Math.max(most, gone.length - before);
      await nextTurn();
    }
    expect(gone).toEqual(sources.map((_, index) => index).slice(SOURCES_PER_TURN + 1));
    expect(most).toBeLessThanOrEqual(SOURCES_PER_TURN);
  });

  it.runIf(process.platform === "linux")("give a pipe one read, however much is in it by then", async () => {
    const { log, closed } = await host.run(["head", "-c", "40000000", "/dev/zero"]);
    let most = 0;
    for (let before = 0; !log.complete; before = log.lastSeq) {
      await nextTurn();
      most = Math.max(most, log.lastSeq - before);
    }
    await closed;
    expect(log.end).toBe(40_000_000);
    expect(most).toBe(1);
  });

  it.each(STDIO)(
    "are fair: each of many endless programs on $kind continues, and requests are handled",
    async (stdio) => {
      // Of low priority, or twelve endless programs leave this process, and the tests beside it, no processor.
      const command = ["nice", "-n", "10", "yes"];
      const floods = await Promise.all(Array.from({ length: 12 }, () => host.run(command, { stdio })));
      // Several reads of each.
      for (const { log } of floods) await log.waitFor(20_000);
      const other = await host.run(["echo", "hi"], {});
      expect(await other.exited).toEqual({ kind: "exited", code: 0 });
      // Together: each needs some of the little processor time that is theirs to end.
      await Promise.all(floods.map((flood) => flood.terminate({ graceMs: 0 })));
      for (const flood of floods) await flood.closed;
    },
  );
});
