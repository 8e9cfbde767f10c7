// Output that flows to the client, what it costs the server, and that none of it is lost.
import { inBlocks } from "./report.mjs";
import { anonymousMegabytes, cpuSeconds } from "./server.mjs";

export async function measureThroughput({ servers, transport, report, bytes }) {
  const goals = GOALS[transport];
  const name = transport === "stdio" ? "stdio" : "ws";
  const on = (use) => ({ ours: () => use(servers.ours), other: () => use(servers.other) });
  const cpu = { ours: [], other: [] };
  const flow = (side, size, tty) => async () => {
    const { pid } = servers[side];
    const [used, start] = [cpuSeconds(pid), performance.now()];
    const got = await servers[side].run(["head", "-c", String(size), "/dev/zero"], tty);
    if (got !== size) throw new Error(`${side}: ${got} of ${size} bytes came`);
    if (!tty) cpu[side].push(((cpuSeconds(pid) - used) * 1e9) / size);
    return size / 1000 / (performance.now() - start);
  };
  const pipes = bytes(400_000_000);
  const piped = await inBlocks({ ours: flow("ours", pipes, false), other: flow("other", pipes, false) }, 4, {
    warmUp: 0,
  });
  report.add(`${name}: pipe output`, "MB/s", piped, goals.pipes);
  report.add(`${name}: server CPU per GB of pipe output`, "s", cpu, goals.cpu);
  const drawn = bytes(100_000_000);
  // One flood differs from the next by a quarter, of either server.
  const painted = await inBlocks({ ours: flow("ours", drawn, true), other: flow("other", drawn, true) }, 16, {
    warmUp: 1,
  });
  report.add(`${name}: terminal output`, "MB/s", painted, goals.terminal);
  const growth = {
    ours: await growthWhile(servers.ours, bytes(256_000_000)),
    other: await growthWhile(servers.other, bytes(256_000_000)),
  };
  report.add(`${name}: memory growth while 256 MB flow`, "MB", growth, goals.growth);
  for (const tty of [false, true]) {
    const lost = { ours: 0, other: 0 };
    await inBlocks(
      on((server) => lossOf(server, tty, (count) => (lost[server === servers.ours ? "ours" : "other"] += count))),
      bytes(80),
      { warmUp: 0 },
    );
    report.add(
      `${name}: lost of ${bytes(80)} bursts of 300 KB at exit, ${tty ? "terminal" : "pipes"}`,
      "bytes",
      lost,
      "≤ 0",
      { of: "ours" },
    );
  }
}

const GOALS = {
  websocket: { pipes: "≥ 1", terminal: "≥ 1", cpu: "≤ 0.9", growth: "≤ 2.5" },
  stdio: { pipes: "≥ 2.2", terminal: "≥ 1.2" },
};

const BURST_BYTES = 300_000;

async function lossOf(server, tty, tell) {
  tell(BURST_BYTES - (await server.run(["sh", "-c", `head -c ${BURST_BYTES} /dev/zero | tr '\\0' a`], tty)));
}

async function growthWhile(server, size) {
  const before = anonymousMegabytes(server.pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, anonymousMegabytes(server.pid));
  }, 5);
  await server.run(["head", "-c", String(size), "/dev/zero"]);
  clearInterval(timer);
  return most - before;
}
