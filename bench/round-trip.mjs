// exec_command of /bin/true, from the request to its answer, against child_process and node-pty doing the same.
import { spawn } from "node:child_process";
import pty from "node-pty";
import { CHANNELS, interleave, median, openClient, openOrchestrator, printTable } from "./harness.mjs";

const ROUNDS = 300;

export async function run() {
  const clients = Object.fromEntries(await Promise.all(CHANNELS.map(async (kind) => [kind, await openClient(kind)])));
  const orchestrators = Object.fromEntries(
    await Promise.all(CHANNELS.slice(1).map(async (kind) => [`orchestrator, ${kind}`, await openOrchestrator(kind)])),
  );
  for (const tty of [false, true]) {
    const subjects = {
      raw: tty ? rawTerminal : rawPipes,
      ...Object.fromEntries(CHANNELS.map((kind) => [kind, () => clients[kind].exec(["/bin/true"], { tty })])),
      ...Object.fromEntries(
        Object.entries(orchestrators).map(([name, { run }]) => [name, () => run(["/bin/true"], { tty }).ended]),
      ),
    };
    await interleave(subjects, 20);
    const times = await interleave(subjects, ROUNDS);
    const raw = median(times.raw);
    const rows = Object.entries(times).map(([name, values]) => ({
      name,
      "median ms": +median(values).toFixed(3),
      "added ms": +(median(values) - raw).toFixed(3),
      ratio: +(median(values) / raw).toFixed(2),
    }));
    printTable(`true, ${tty ? "terminal (raw: node-pty)" : "pipes (raw: child_process)"}, ${ROUNDS} rounds`, rows);
  }
  await Promise.all([...Object.values(clients), ...Object.values(orchestrators)].map((end) => end.close()));
}

const rawPipes = () =>
  new Promise((resolve) => {
    const child = spawn("/bin/true", [], { stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.once("close", () => resolve());
  });

const rawTerminal = () => new Promise((resolve) => pty.spawn("/bin/true", [], {}).onExit(() => resolve()));
