import { once } from "node:events";
import { expect, it } from "vitest";
import { FakeClock } from "../fake-clock.js";
import { connect, dial, makeKey, registerBody, startExecutor, startHarness, startRendezvous } from "../support.js";

const SILENCE_MS = 1_000;
const limits = { pingMs: 40, silenceMs: SILENCE_MS, connectHoldMs: 1 };

it("an executor that answers no ping is cut, and its harnesses are told to connect again", async () => {
  const clock = new FakeClock();
  const started = await startRendezvous({ clock, limits });
  const { body } = await started.post("/cloud/environment/env-1/register", registerBody());
  const executor = await dial(body.url!, { autoPong: false });
  const harness = await startHarness(started);
  clock.advance(SILENCE_MS - 1);
  // The harness is heard once more, the executor is not.
  harness.data("s-1", "x");
  expect((await executor.nextFrame()).body.kind).toBe("data");
  expect(started.count("silent_connections_total")).toBe(0);
  clock.advance(limits.pingMs);
  expect(await harness.closed).toBe(1013);
  expect(started.count("silent_connections_total")).toBe(1);
  let answer: Awaited<ReturnType<typeof started.post>> | undefined;
  const asked = started.post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() }).then((given) => {
    answer = given;
  });
  while (answer === undefined) {
    clock.advance(limits.connectHoldMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await asked;
  expect([answer.status, answer.body.error?.code]).toEqual([503, "executor_away"]);
});

it("a harness that answers no ping is cut, and its stream is reset at the executor", async () => {
  const clock = new FakeClock();
  const started = await startRendezvous({ clock, limits });
  const executor = await startExecutor(started);
  const harness = await dial((await connect(started)).url, { autoPong: false });
  harness.data("s-1", "x");
  expect((await executor.end.nextFrame()).body.kind).toBe("data");
  clock.advance(SILENCE_MS - 1);
  executor.end.data("s-1", "y");
  expect(await harness.nextText()).toBe("y");
  clock.advance(limits.pingMs);
  expect((await executor.end.nextFrame()).body.kind).toBe("reset");
  expect(started.count("resets_total", "harness_gone")).toBe(1);
});

it("when a harness comes, a dead connection of its executor is noticed without waiting for the next ping", async () => {
  const clock = new FakeClock();
  const probeMs = 30;
  const started = await startRendezvous({ clock, limits: { pingMs: 60_000, silenceMs: 90_000, probeMs } });
  const { body } = await started.post("/cloud/environment/env-1/register", registerBody());
  const executor = await dial(body.url!, { autoPong: false });
  clock.advance(probeMs);
  const probed = once(executor.socket, "ping");
  await startHarness(started);
  await probed;
  expect(started.count("silent_connections_total")).toBe(0);
  clock.advance(probeMs);
  await executor.closed;
  expect(started.count("silent_connections_total")).toBe(1);
});

it("many executors are told with a ping over which time to return", async () => {
  const clock = new FakeClock();
  const started = await startRendezvous({ clock, limits: { pingMs: 40, dialsPerSecond: 1 } });
  await startExecutor(started, "env-1");
  const { end } = await startExecutor(started, "env-2");
  const pinged = once(end.socket, "ping");
  clock.advance(40);
  expect(String((await pinged)[0])).toBe("spread=2000");
  // Twice as many dials within a second are accepted, no more: both were taken.
  const { body } = await started.post("/cloud/environment/env-3/register", registerBody());
  await expect(dial(body.url!)).rejects.toThrow("503 too_busy");
  clock.advance(1_000);
  await dial(body.url!);
});
