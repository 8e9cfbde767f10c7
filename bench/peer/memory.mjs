// What a server holds: after its start, with many idle processes, after many short ones. Each on a server of its own.
import { setTimeout } from "node:timers/promises";
import { descriptorsOf, openServer, privateMegabytes, threadsOf } from "./server.mjs";

export async function measureMemory({ commands, report, rounds }) {
  for (const tty of [false, true]) {
    const kind = tty ? "terminal" : "pipe";
    const few = await onEach(commands, (server) => holdIdle(server, 64, tty));
    const fewAfter = { ours: few.ours.after, other: few.other.after };
    report.add(`private memory with 64 idle ${kind} processes`, "MB", fewAfter);
    const count = rounds(500);
    const used = await onEach(commands, (server) => holdIdle(server, count, tty));
    const of = (name) => ({ ours: used.ours[name], other: used.other[name] });
    if (!tty) report.add("private memory after start", "MB", of("before"), "≤ 2");
    report.add(`private memory with ${count} idle ${kind} processes`, "MB", of("after"), tty ? "≤ 1" : "≤ 0.8");
    if (tty) report.add(`threads with ${count} idle terminals`, "threads", of("threads"), "≤ 20", { of: "ours" });
  }
  for (const [tty, many] of [
    [false, 10_000],
    [true, 4_000],
  ]) {
    const count = rounds(many);
    const left = await onEach(commands, (server) => runShort(server, count, tty));
    const of = (name) => ({ ours: left.ours[name], other: left.other[name] });
    const kind = tty ? "terminal" : "pipe";
    report.add(`memory growth after ${count} short ${kind} processes`, "MB", of("growth"), "≤ 0.3");
    if (tty)
      report.add(`descriptors left after ${count} short terminal processes`, "", of("descriptors"), "≤ 0", {
        of: "ours",
      });
  }
}

async function onEach(commands, use) {
  const results = {};
  for (const [side, command] of Object.entries(commands)) {
    const server = await openServer(command, "websocket");
    results[side] = await use(server);
    await server.close();
  }
  return results;
}

async function holdIdle(server, count, tty) {
  const before = privateMegabytes(server.pid);
  await Promise.all(Array.from({ length: count }, () => server.start(["sleep", "1000"], { tty }).answer));
  return { before, after: await settledMegabytes(server.pid), threads: threadsOf(server.pid) };
}

/**
 * Memory that a server shares with a child between fork and exec does not count as its own: read until it rises no further. A
 * server that answers before the exec would seem to hold less with 500 processes than with none.
 */
async function settledMegabytes(pid) {
  for (let last = privateMegabytes(pid); ; ) {
    await setTimeout(SETTLE_MS);
    const now = privateMegabytes(pid);
    if (now <= last) return last;
    last = now;
  }
}

const SETTLE_MS = 200;

const AT_ONCE = 32;

/** The first process does not count: with it comes what all of them share. */
async function runShort(server, count, tty) {
  await server.run(["/bin/true"], tty);
  const [memory, descriptors] = [privateMegabytes(server.pid), descriptorsOf(server.pid)];
  let left = count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await server.run(["/bin/true"], tty);
    }),
  );
  return { growth: privateMegabytes(server.pid) - memory, descriptors: descriptorsOf(server.pid) - descriptors };
}
