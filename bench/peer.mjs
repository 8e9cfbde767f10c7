// Side by side with another exec-server: node bench/peer.mjs --vs 'codex exec-server' (the real one). Linux.
import { parseArgs } from "node:util";
import { codex, interleave, median, printTable } from "./harness.mjs";
import { openServer, privateMegabytes, threadsOf } from "./peer-client.mjs";

const { values } = parseArgs({ options: { vs: { type: "string" }, quick: { type: "boolean" } } });
if (values.vs === undefined) {
  console.error("usage: node bench/peer.mjs --vs 'command of the other server' [--quick]");
  process.exit(2);
}
const COMMANDS = { ours: `${process.execPath} ${codex} exec-server`, other: values.vs };
const scale = values.quick ? 0.1 : 1;
const rounds = (count) => Math.max(3, Math.round(count * scale));
const rows = [];

/** Ratio of medians; below 1 is better for us unless the unit is a rate. */
function report(what, unit, times, toValue = (ms) => ms) {
  const [ours, other] = [toValue(median(times.ours)), toValue(median(times.other))];
  const digits = (value) => +value.toPrecision(3);
  if (process.env.BENCH_VERBOSE) console.error(what);
  rows.push({ what, unit, ours: digits(ours), other: digits(other), "ours/other": digits(ours / other) });
}

const both = (use) => ({ ours: () => use("ours"), other: () => use("other") });

report("cold start → initialize answered, stdio", "ms", await interleave(both(coldStart), rounds(15)));
for (const transport of ["websocket", "stdio"]) {
  const servers = {
    ours: await openServer(COMMANDS.ours, transport),
    other: await openServer(COMMANDS.other, transport),
  };
  const on = (use) => both((name) => use(servers[name]));
  for (const tty of [false, true]) {
    const stdio = tty ? "terminal" : "pipes";
    await interleave(
      on((server) => server.run(["/bin/true"], tty).then(() => {})),
      5,
    );
    report(
      `${transport}: true, start → closed, ${stdio}`,
      "ms",
      await interleave(
        on((server) => server.run(["/bin/true"], tty).then(() => {})),
        rounds(100),
      ),
    );
    const inFlight = await interleave(
      on((server) => sixtyFour(server, tty)),
      3,
    );
    report(`${transport}: 64 starts in flight, ${stdio}`, "processes/s", inFlight, (ms) => 64_000 / ms);
  }
  report(`${transport}: environment/info, one at a time`, "ms", await interleave(on(info), rounds(300)));
  const many = await interleave(on(sixtyFourInfos), rounds(50));
  report(`${transport}: environment/info, 64 in flight`, "requests/s", many, (ms) => 64_000 / ms);
  const typists = { ours: await typist(servers.ours), other: await typist(servers.other) };
  await interleave({ ours: typists.ours, other: typists.other }, 5);
  report(
    `${transport}: echo of one key`,
    "ms",
    await interleave({ ours: typists.ours, other: typists.other }, rounds(100)),
  );
  const bytes = Math.round(200_000_000 * scale);
  const flood = await interleave(
    on((server) => server.run(["head", "-c", String(bytes), "/dev/zero"]).then(() => {})),
    3,
  );
  report(`${transport}: pipe output`, "MB/s", flood, (ms) => bytes / 1000 / ms);
  const drawn = Math.round(40_000_000 * scale);
  const paint = await interleave(
    on((server) => server.run(["head", "-c", String(drawn), "/dev/zero"], true).then(() => {})),
    3,
  );
  report(`${transport}: terminal output`, "MB/s", paint, (ms) => drawn / 1000 / ms);
  report(`${transport}: request behind a 250 ms long poll`, "ms", await interleave(on(behindLongPoll), rounds(10)));
  await Promise.all(Object.values(servers).map((server) => server.close()));
}
await memory();
printTable("exec-server side by side, medians of one run; rates: more is better", rows);

async function coldStart(name) {
  const server = await openServer(COMMANDS[name], "stdio");
  await server.close();
  return server.coldStartMs;
}

function info(server) {
  return server.request("environment/info").then(() => {});
}

async function sixtyFour(server, tty) {
  await Promise.all(Array.from({ length: 64 }, () => server.run(["/bin/true"], tty)));
}

/** No more: the other server may stop answering for good when many hundred are in flight. */
async function sixtyFourInfos(server) {
  await Promise.all(Array.from({ length: 64 }, () => info(server)));
}

async function typist(server) {
  let arrived = () => {};
  const { processId, answer } = server.start(["cat"], { tty: true, onEvent: () => arrived() });
  await answer;
  let writeId = 0;
  return async () => {
    const echoed = new Promise((resolve) => {
      arrived = resolve;
    });
    const sent = server.request("process/write", { processId, chunk: "eA==", writeId: String(++writeId) });
    await echoed;
    await sent;
  };
}

async function behindLongPoll(server) {
  const { processId, answer } = server.start(["sleep", "1"]);
  await answer;
  const poll = server.request("process/read", { processId, afterSeq: 0, maxBytes: null, waitMs: 250 });
  const start = performance.now();
  await info(server);
  const ms = performance.now() - start;
  await poll;
  await server.request("process/terminate", { processId });
  return ms;
}

async function memory() {
  for (const tty of [false, true]) {
    const used = {};
    for (const name of ["ours", "other"]) {
      const server = await openServer(COMMANDS[name], "websocket");
      const before = privateMegabytes(server.pid);
      await Promise.all(Array.from({ length: 64 }, () => server.start(["sleep", "1000"], { tty }).answer));
      used[name] = { before, after: privateMegabytes(server.pid), threads: threadsOf(server.pid) };
      await server.close();
    }
    const stdio = tty ? "terminal" : "pipe";
    if (!tty) report("private memory after start", "MB", { ours: [used.ours.before], other: [used.other.before] });
    report(`private memory with 64 idle ${stdio} processes`, "MB", {
      ours: [used.ours.after],
      other: [used.other.after],
    });
    report(`threads with 64 idle ${stdio} processes`, "threads", {
      ours: [used.ours.threads],
      other: [used.other.threads],
    });
  }
}
