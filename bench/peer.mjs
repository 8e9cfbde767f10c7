// Side by side with another exec-server: node bench/peer.mjs --vs 'codex exec-server' (the real one). Linux.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { codex, median, printTable } from "./harness.mjs";
import { measureFiles } from "./peer/files.mjs";
import { measureLatency } from "./peer/latency.mjs";
import { measureMemory } from "./peer/memory.mjs";
import { inBlocks, Report } from "./peer/report.mjs";
import { openServer } from "./peer/server.mjs";
import { measureThroughput } from "./peer/throughput.mjs";

const { values } = parseArgs({
  options: { vs: { type: "string" }, quick: { type: "boolean" }, only: { type: "string", multiple: true } },
});
const PARTS = ["start", "websocket", "stdio", "files", "memory"];
const wanted = values.only ?? PARTS;
if (values.vs === undefined || wanted.some((part) => !PARTS.includes(part))) {
  console.error(`usage: node bench/peer.mjs --vs 'command of the other server' [--quick] [--only ${PARTS.join("|")}]…`);
  process.exit(2);
}
const commands = { ours: [process.execPath, codex, "exec-server"], other: values.vs.split(" ") };
const scale = values.quick ? 0.1 : 1;
const rounds = (count) => Math.max(1, Math.round(count * scale));
const report = new Report();

if (wanted.includes("start")) await measureStart();
for (const transport of ["websocket", "stdio"]) {
  if (wanted.includes(transport)) {
    await withServers(transport, (servers) => measureLatency({ servers, transport, report, rounds }));
    await withServers(transport, (servers) => measureThroughput({ servers, transport, report, bytes: rounds }));
  }
}
if (wanted.includes("files")) await withServers("websocket", (servers) => measureFiles({ servers, report, rounds }));
if (wanted.includes("memory")) await measureMemory({ commands, report, rounds });
printTable("exec-server side by side, medians of one run; rates: more is better", report.rows);

async function withServers(transport, use) {
  const servers = {
    ours: await openServer(commands.ours, transport),
    other: await openServer(commands.other, transport),
  };
  await use(servers);
  await Promise.all(Object.values(servers).map((server) => server.close()));
}

/** Against the other server, and against Node that does nothing. */
async function measureStart() {
  const start = async (side) => {
    const server = await openServer(commands[side], "stdio");
    await server.close();
    return server.coldStartMs;
  };
  const times = await inBlocks({ ours: () => start("ours"), other: () => start("other") }, rounds(20));
  report.add("cold start → initialize answered, stdio", "ms", times);
  const bare = await inBlocks({ ours: () => start("ours"), other: bareNode }, rounds(40), { blocks: 40, warmUp: 0 });
  report.add("the same against `node -e 0`", "ms", { ours: median(bare.ours), other: median(bare.other) }, "≤ 1.35");
}

async function bareNode() {
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
}
