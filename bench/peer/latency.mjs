// Starts, echoes and answers over one transport.
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onOneProcessor } from "./one-processor.mjs";
import { inBlocks, SIDES } from "./report.mjs";
import { openServer } from "./server.mjs";

const IN_FLIGHT = 64;
const BARE_SERVER = [process.execPath, fileURLToPath(new URL("bare-server.mjs", import.meta.url))];

/** @param goals by transport, as in the specification of the bench's table */
export async function measureLatency({ servers, transport, report, rounds }) {
  const goals = GOALS[transport];
  const name = transport === "stdio" ? "stdio" : "ws";
  const on = (use) => ({ ours: () => use(servers.ours), other: () => use(servers.other) });
  for (const tty of [false, true]) {
    const kind = tty ? "terminal" : "pipes";
    const runTrue = (server) => server.run(["/bin/true"], tty).then(() => {});
    report.add(`${name}: true, start → closed, ${kind}`, "ms", await inBlocks(on(runTrue), rounds(120)), goals.true);
    const perSecond = await inBlocks(
      on((server) => startMany(server, rounds(320), tty)),
      3,
      { warmUp: 0 },
    );
    report.add(`${name}: ${IN_FLIGHT} starts in flight, ${kind}`, "processes/s", perSecond, goals.inFlight);
  }
  const typists = { ours: await createTypist(servers.ours), other: await createTypist(servers.other) };
  report.add(
    `${name}: echo of one key, the first 40`,
    "ms",
    await inBlocks(typists, rounds(40), { blocks: 1, warmUp: 0 }),
  );
  for (const typist of Object.values(typists)) await typist.typeAhead(rounds(2000));
  report.add(
    `${name}: echo of one key`,
    "ms",
    await inBlocks(typists, rounds(240), { warmUp: rounds(60) }),
    goals.echo,
  );
  report.add(`${name}: environment/info, one at a time`, "ms", await inBlocks(on(askInfo), rounds(1600)));
  const bare = await openServer(BARE_SERVER, transport);
  const againstBare = (ask) =>
    onOneProcessor([servers.ours.pid, bare.pid], () =>
      inBlocks({ ours: () => ask(servers.ours), other: () => ask(bare) }, rounds(6400), { blocks: 16 }),
    );
  report.add(`${name}: the same against a bare Node server`, "ms", await againstBare(askInfo), goals.info);
  const unknown = await againstBare(readUnknown);
  report.add(`${name}: process/read of an unknown id against the same`, "ms", unknown, goals.unknown);
  await bare.close();
  const many = await inBlocks(
    on((server) => askMany(server, rounds(2048))),
    4,
    { warmUp: 0 },
  );
  report.add(`${name}: environment/info, ${IN_FLIGHT} in flight`, "requests/s", many, goals.infos);
  const behind = await inBlocks(on(behindLongPoll), rounds(8), { blocks: 2, warmUp: 1 });
  report.add(`${name}: request behind a 250 ms long poll`, "ms", behind, goals.longPoll);
  report.add(`${name}: request while \`yes\` floods`, "ms", await besideFlood(servers, rounds(1000)), goals.flooded);
  const ended = await inBlocks(on(terminateFlood), rounds(80), { blocks: 8 });
  report.add(`${name}: terminate of a flooding \`yes\`, answer`, "ms", ended, goals.terminate);
}

const GOALS = {
  websocket: {
    true: "≤ 0.04",
    inFlight: "≥ 3",
    echo: "≤ 0.003",
    info: "≤ 1.3",
    unknown: "≤ 1.2",
    infos: "≥ 15",
    longPoll: "≤ 0.01",
    flooded: "≤ 1",
    terminate: "≤ 1",
  },
  stdio: { true: "≤ 0.5", echo: "≤ 1", info: "≤ 1.3", flooded: "≤ 0.1" },
};

const askInfo = (server) => server.request("environment/info").then(() => {});

/** The bare server answers it as well; ours with an error. */
const readUnknown = (server) =>
  server.request("process/read", { processId: "none", afterSeq: 0, maxBytes: null, waitMs: 0 }).then(ignore, ignore);

const ignore = () => {};

const startMany = (server, count, tty) => perSecond(count, () => server.run(["/bin/true"], tty));

/** 64 and no more: the other server may stop answering for good when many hundred are in flight. */
const askMany = (server, count) => perSecond(count, () => server.request("environment/info"));

/** Calls in lots of 64, each begun when the one before is answered; resolves with calls per second. */
async function perSecond(count, call) {
  const lots = Math.max(1, Math.round(count / IN_FLIGHT));
  const start = performance.now();
  for (let lot = 0; lot < lots; lot += 1) await Promise.all(Array.from({ length: IN_FLIGHT }, call));
  return (lots * IN_FLIGHT * 1000) / (performance.now() - start);
}

/** Types into `cat` on a terminal: resolves with the milliseconds to the echo. */
async function createTypist(server) {
  let missing = 0;
  let arrived = () => {};
  const onEvent = (_method, bytes) => {
    missing -= bytes;
    if (missing === 0) arrived();
  };
  const { processId, answer } = server.start(["cat"], { tty: true, onEvent });
  await answer;
  let writeId = 0;
  const write = () => server.request("process/write", { processId, chunk: "eA==", writeId: String(++writeId) });
  const type = async (keys) => {
    missing = keys;
    const echoed = new Promise((resolve) => {
      arrived = resolve;
    });
    const start = performance.now();
    const sent = Array.from({ length: keys }, write);
    await echoed;
    const ms = performance.now() - start;
    await Promise.all(sent);
    return ms;
  };
  const typist = () => type(1);
  /** The terminal takes a line of 4,095 keys at most. */
  typist.typeAhead = async (keys) => {
    for (let typed = 0; typed < keys; typed += IN_FLIGHT) await type(Math.min(IN_FLIGHT, keys - typed));
  };
  return typist;
}

async function behindLongPoll(server) {
  const { processId, answer } = server.start(["sleep", "1"]);
  await answer;
  const poll = server.request("process/read", { processId, afterSeq: 0, maxBytes: null, waitMs: 250 });
  const start = performance.now();
  await askInfo(server);
  const ms = performance.now() - start;
  await poll;
  await server.request("process/terminate", { processId });
  return ms;
}

/** The flood of one side runs only while that side is measured, for some time: an answer takes as long as it takes. */
async function besideFlood(servers, blockMs) {
  const times = { ours: [], other: [] };
  for (let block = 0; block < 4; block += 1) {
    for (const side of block % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const server = servers[side];
      const flooding = Promise.withResolvers?.() ?? withResolvers();
      const { processId, answer } = server.start(["yes"], { onEvent: () => flooding.resolve() });
      await Promise.all([answer, flooding.promise]);
      const began = performance.now();
      for (let now = began; now < began + blockMs; now = performance.now()) {
        await askInfo(server);
        if (now > began + blockMs / 10) times[side].push(performance.now() - now);
      }
      await server.request("process/terminate", { processId });
    }
  }
  return times;
}

const FLOOD_MS = 20;

async function terminateFlood(server) {
  const [flooding, closed] = [withResolvers(), withResolvers()];
  const onEvent = (method) => (method === "process/closed" ? closed : flooding).resolve();
  const { processId, answer } = server.start(["yes"], { onEvent });
  await Promise.all([answer, flooding.promise]);
  await setTimeout(FLOOD_MS);
  const start = performance.now();
  await server.request("process/terminate", { processId });
  const ms = performance.now() - start;
  await closed.promise;
  return ms;
}

function withResolvers() {
  const result = {};
  result.promise = new Promise((resolve) => {
    result.resolve = resolve;
  });
  return result;
}
