import { expect, it } from "vitest";
import { connect, dial, makeKey, registerBody, startExecutor, startHarness, startRendezvous } from "../support.js";

it("an executor that answers no ping is cut, and its harnesses are told to connect again", async () => {
  const started = await startRendezvous({ limits: { pingMs: 40, silenceMs: 1_000, connectHoldMs: 1 } });
  const { body } = await started.post("/cloud/environment/env-1/register", registerBody());
  const stopAnswering = answerPings(await dial(body.url!, { autoPong: false }));
  const harness = await startHarness(started);
  stopAnswering();
  expect(await harness.closed).toBe(1013);
  expect(started.count("silent_connections_total")).toBe(1);
  const answer = await started.post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() });
  expect([answer.status, answer.body.error?.code]).toEqual([503, "executor_away"]);
});

it("a harness that answers no ping is cut, and its stream is reset at the executor", async () => {
  const started = await startRendezvous({ limits: { pingMs: 40, silenceMs: 1_000 } });
  const executor = await startExecutor(started);
  const harness = await dial((await connect(started)).url, { autoPong: false });
  const stopAnswering = answerPings(harness);
  harness.data("s-1", "x");
  expect((await executor.end.nextFrame()).body.kind).toBe("data");
  stopAnswering();
  expect((await executor.end.nextFrame()).body.kind).toBe("reset");
  expect(started.count("resets_total", "harness_gone")).toBe(1);
});

it("when a harness comes, a dead connection of its executor is noticed without waiting for the next ping", async () => {
  const started = await startRendezvous({ limits: { pingMs: 60_000, silenceMs: 90_000, probeMs: 30 } });
  const { body } = await started.post("/cloud/environment/env-1/register", registerBody());
  const executor = await dial(body.url!, { autoPong: false });
  await new Promise((resolve) => setTimeout(resolve, 60));
  await startHarness(started);
  await executor.closed;
  expect(started.count("silent_connections_total")).toBe(1);
});

it("many executors are told with a ping over which time to return", async () => {
  const started = await startRendezvous({ limits: { pingMs: 40, dialsPerSecond: 1 } });
  await startExecutor(started, "env-1");
  const { end } = await startExecutor(started, "env-2");
  const [payload] = await new Promise<[Buffer]>((resolve) => end.socket.once("ping", (...words) => resolve(words)));
  expect(payload.toString()).toBe("spread=2000");
  // Twice as many dials within a second are accepted, no more.
  const { body } = await started.post("/cloud/environment/env-3/register", registerBody());
  const dials = await Promise.allSettled(Array.from({ length: 20 }, () => dial(body.url!)));
  const refused = dials.filter((each) => each.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(String(refused[0]!.reason)).toContain("503 too_busy");
});

/** Answers pings until the returned function is called: from then on the connection is half-open. */
function answerPings({ socket }: Awaited<ReturnType<typeof dial>>): () => void {
  const answer = (payload: Buffer) => socket.pong(payload);
  socket.on("ping", answer);
  return () => socket.off("ping", answer);
}
