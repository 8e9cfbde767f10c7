import { describe, expect, it } from "vitest";
import type { Connection } from "../../src/sockets/connection.js";
import { Heartbeat } from "../../src/sockets/heartbeat.js";
import { FakeClock } from "../fake-clock.js";

/** A connection that answers pings as long as it is alive. */
function makeConnection(clock: FakeClock) {
  let close = () => {};
  const state = {
    isAlive: true,
    isPaused: false,
    heardAt: clock.now(),
    pings: 0,
    isCut: false,
    ping() {
      state.pings += 1;
      if (state.isAlive) state.heardAt = clock.now();
    },
    cut() {
      state.isCut = true;
      close();
    },
    onClose(run: () => void) {
      close = run;
    },
  };
  // The part of it that a heartbeat uses.
  return { state, connection: state as unknown as Connection };
}

function start() {
  const clock = new FakeClock();
  let silent = 0;
  const onSilent = () => {
    silent += 1;
  };
  const heartbeat = new Heartbeat({
    clock,
    pingMs: 20_000,
    silenceMs: 45_000,
    probeMs: 5_000,
    createPayload: () => "",
    onSilent,
  });
  const add = () => {
    const made = makeConnection(clock);
    heartbeat.watch(made.connection);
    return made;
  };
  return { clock, heartbeat, add, countSilent: () => silent };
}

describe("a heartbeat", () => {
  it("pings every connection in each interval, at different moments", () => {
    const { clock, add } = start();
    const all = Array.from({ length: 40 }, add);
    const pinged: number[] = [];
    for (let step = 0; step < 20; step += 1) {
      clock.advance(1_000);
      pinged.push(all.reduce((sum, { state }) => sum + state.pings, 0));
    }
    expect(pinged).toEqual(Array.from({ length: 20 }, (_, step) => (step + 1) * 2));
  });

  it("cuts a connection that is silent, once, and not one that answers or is paused", () => {
    const { clock, add, countSilent } = start();
    const [alive, dead, paused] = [add(), add(), add()];
    dead.state.isAlive = false;
    paused.state.isAlive = false;
    paused.state.isPaused = true;
    clock.advance(70_000);
    expect([alive, dead, paused].map(({ state }) => state.isCut)).toEqual([false, true, false]);
    clock.advance(200_000);
    expect(countSilent()).toBe(1);
  });

  it("probes a connection that is in the way, and cuts it when it does not answer", () => {
    const { clock, heartbeat, add } = start();
    const [alive, dead] = [add(), add()];
    dead.state.isAlive = false;
    clock.advance(6_000);
    const before = alive.state.pings;
    for (const { connection } of [alive, dead, dead]) heartbeat.probe(connection);
    expect([alive.state.pings - before, dead.state.isCut]).toEqual([1, false]);
    clock.advance(5_000);
    expect([alive.state.isCut, dead.state.isCut]).toEqual([false, true]);
  });

  it("does not ask one from which something has just come", () => {
    const { clock, heartbeat, add } = start();
    const { state, connection } = add();
    clock.advance(500);
    state.heardAt = clock.now();
    const before = state.pings;
    heartbeat.probe(connection);
    expect(state.pings).toBe(before);
  });
});
