import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { runRelayFaults } from "./relay-run.js";

const USAGE = `usage: pnpm faults relay [--faults N] [--seed S]
  --faults N   faults of frames, sockets and nodes (default 5000)
  --seed S     of the kinds of faults and the messages (default: random, printed)
`;

/** `pnpm faults relay`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { faults: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const total = Number(values.faults ?? 5000);
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(total) || total < 1) throw new Error(USAGE);
  process.stdout.write(`seed ${seed}\n`);
  const onProgress = (done: number) => void process.stdout.write(`${done} of ${total} faults\n`);
  const { faults, nodes, messages, bytes, problems } = await runRelayFaults({ seed, faults: total, onProgress });
  const kinds = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  process.stdout.write(
    `${nodes} nodes; ${kinds.join(", ")}\n${messages} messages, ${bytes} bytes, ${problems.length} problems\n`,
  );
  for (const problem of problems.slice(0, 20)) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

await main();
