import { parseArgs } from "node:util";
import { findProblems, OUTAGES, simulate } from "./simulation.js";

const USAGE = `usage: pnpm simulate [--executors N] [--nodes N] [--outage KIND] [--seed S]
  --executors N   default 100000
  --nodes N       default 3
  --outage KIND   ${OUTAGES.join(", ")} (default: each)
  --seed S        default 1
`;

/** `pnpm simulate`: prints a row for each outage; exit code 1 if a bound was exceeded. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      executors: { type: "string", default: "100000" },
      nodes: { type: "string", default: "3" },
      outage: { type: "string" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean" },
    },
  });
  const [executors, nodes, seed] = [values.executors, values.nodes, values.seed].map(Number) as [
    number,
    number,
    number,
  ];
  const outages = OUTAGES.filter((outage) => values.outage === undefined || values.outage === outage);
  const isValid = [executors, nodes].every((each) => Number.isSafeInteger(each) && each > 0) && outages.length > 0;
  if (values.help || !isValid) {
    process.stdout.write(USAGE);
    process.exitCode = isValid ? 0 : 2;
    return;
  }
  process.stdout.write(
    "| outage | lost | half back | 99 % | all | dials/s reached | accepted | found nobody | registrations | expired |\n",
  );
  process.stdout.write("|---|---|---|---|---|---|---|---|---|---|\n");
  for (const outage of outages) {
    const options = { executors, nodes, outage, seed };
    const result = await simulate(options);
    const seconds = [result.half, result.most, result.all].map((ms) => (ms === undefined ? "-" : `${ms / 1000} s`));
    const { lost, peakDials, peakAccepted, peakRefused, registrations, expired } = result;
    const cells = [outage, lost, ...seconds, peakDials, peakAccepted, peakRefused, registrations, expired];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
    for (const problem of findProblems(options, result)) {
      process.stdout.write(`${outage}: ${problem}\n`);
      process.exitCode = 1;
    }
  }
}

await main();
