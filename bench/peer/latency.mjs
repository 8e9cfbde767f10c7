// Starts, echoes and answers over one transport.
import { inBlocks } from "./report.mjs";

const IN_FLIGHT = 64;

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
  report.add(`${name}: echo of one key`, "ms", await inBlocks(typists, rounds(120)), goals.echo);
  report.add(`${name}: environment/info, one at a time`, "ms", await inBlocks(on(askInfo), rounds(1600)), goals.info);
  const many = await inBlocks(
    on((server) => askMany(server, rounds(2048))),
    4,
    { warmUp: 0 },
  );
  report.add(`${name}: environment/info, ${IN_FLIGHT} in flight`, "requests/s", many, goals.infos);
  const behind = await inBlocks(on(behindLongPoll), rounds(8), { blocks: 2, warmUp: 1 });
  report.add(`${name}: request behind a 250 ms long poll`, "ms", behind, goals.longPoll);
  report.add(`${name}: request while \`yes\` floods`, "ms", await besideFlood(servers, rounds(200)), goals.flooded);
}

const GOALS = {
  websocket: {
    true: "≤ 0.04",
    inFlight: "≥ 3",
    echo: "≤ 0.003",
    info: "≤ 0.15",
    infos: "≥ 15",
    longPoll: "≤ 0.01",
    flooded: "≤ 1",
  },
  stdio: { true: "≤ 0.5", echo: "≤ 1", info: "≤ 0.25", flooded: "≤ 0.1" },
};

const askInfo = (server) => server.request("environment/info").then(() => {});

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

async function createTypist(server) {
  let arrived = () => {};
  const { processId, answer } = server.start(["cat"], { tty: true, onEvent: () => arrived() });
  await answer;
  let writeId = 0;
  return async () => {
    const echoed = new Promise((resolve) => {
      arrived = resolve;
    });
    const start = performance.now();
    const sent = server.request("process/write", { processId, chunk: "eA==", writeId: String(++writeId) });
    await echoed;
    const ms = performance.now() - start;
    await sent;
    return ms;
  };
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

/** The flood of one side runs only while that side is measured. */
async function besideFlood(servers, rounds) {
  const times = { ours: [], other: [] };
  for (let block = 0; block < 2; block += 1) {
    for (const [side, server] of Object.entries(servers)) {
      const flooding = Promise.withResolvers?.() ?? withResolvers();
      const { processId, answer } = server.start(["yes"], { onEvent: () => flooding.resolve() });
      await Promise.all([answer, flooding.promise]);
      for (let round = -5; round < rounds / 2; round += 1) {
        const start = performance.now();
        await askInfo(server);
        if (round >= 0) times[side].push(performance.now() - start);
      }
      await server.request("process/terminate", { processId });
    }
  }
  return times;
}

function withResolvers() {
  const result = {};
  result.promise = new Promise((resolve) => {
    result.resolve = resolve;
  });
  return result;
}
