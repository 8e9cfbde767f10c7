import type { Clock } from "@codex/clock";
import { describe, expect, it } from "vitest";
import type { EnvironmentState } from "../../src/index.js";
import { Connection } from "../../src/life/connection.js";
import { StateBox } from "../../src/life/state-box.js";
import { LONGEST_RETRY_MS } from "../../src/limits.js";

/** A clock that advances to each awaited time at once, and records the delays. */
function createJumpingClock(): Clock & { waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    after(ms, run) {
      waits.push(ms);
      const timer = setImmediate(() => {
        now += ms;
        run();
      });
      return () => clearImmediate(timer);
    },
  };
}

function open(outcomes: (() => Promise<string>)[]) {
  const clock = createJumpingClock();
  const box = new StateBox(() => clock.now());
  const states: EnvironmentState[] = [];
  const freed: string[] = [];
  box.listen((state) => states.push(state));
  const connection = new Connection<string>({
    id: "remote",
    box,
    clock,
    random: () => 1,
    open: () => outcomes.shift()!(),
    free: async (remote) => void freed.push(remote),
    secrets: ["s3cret"],
  });
  return { connection, clock, states, freed };
}

const fails = () => Promise.reject(new Error("down, s3cret"));

describe("a connection that fails", () => {
  it("is tried again at each use, after delays that double up to a limit", async () => {
    const { connection, clock, states } = open([...Array.from({ length: 7 }, () => fails), async () => "remote"]);
    for (let count = 0; count < 7; count += 1) {
      await expect(connection.get()).rejects.toMatchObject({ code: "unreachable", reason: "down, …" });
    }
    expect(await connection.get()).toBe("remote");
    expect(clock.waits).toEqual([250, 500, 1000, 2000, 4000, LONGEST_RETRY_MS, LONGEST_RETRY_MS]);
    expect(states.at(-1)).toEqual({ status: "ready", since: clock.now() });
    expect(states.filter(({ status }) => status === "failed")[0]).toEqual({
      status: "failed",
      since: 0,
      reason: "down, …",
    });
  });

  it("fails once for concurrent callers", async () => {
    const { connection } = open([fails, async () => "remote"]);
    const results = await Promise.allSettled([connection.get(), connection.get(), connection.get()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await connection.get()).toBe("remote");
  });
});

describe("a connection that was lost", () => {
  it("is released, and another one is opened at the next use", async () => {
    const { connection, freed, states } = open([async () => "one", async () => "two"]);
    await connection.get();
    connection.lose("one", "the session was lost");
    connection.lose("one", "told twice");
    expect([states.at(-1), freed]).toEqual([{ status: "failed", since: 0, reason: "the session was lost" }, ["one"]]);
    expect(await connection.get()).toBe("two");
  });
});

describe("closing", () => {
  it("aborts the attempt, releases its result, and rejects later uses", async () => {
    let arrive = (_: string) => {};
    const { connection, freed } = open([() => new Promise((resolve) => (arrive = resolve))]);
    const waiting = expect(connection.get()).rejects.toMatchObject({ code: "closed" });
    await new Promise((resolve) => setImmediate(resolve));
    const closed = connection.close();
    arrive("late");
    await Promise.all([waiting, closed]);
    expect(freed).toEqual(["late"]);
    await expect(connection.get()).rejects.toMatchObject({ code: "closed" });
  });

  it("of one caller ends only its own wait", async () => {
    let arrive = (_: string) => {};
    const { connection } = open([() => new Promise((resolve) => (arrive = resolve))]);
    const abort = new AbortController();
    const other = connection.get();
    const given = expect(connection.get(abort.signal)).rejects.toThrow("enough");
    abort.abort(new Error("enough"));
    await given;
    await new Promise((resolve) => setImmediate(resolve));
    arrive("remote");
    expect(await other).toBe("remote");
  });
});
