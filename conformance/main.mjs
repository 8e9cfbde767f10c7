// pnpm conformance: recorded exchanges against any exec-server.
import { parseOptions, USAGE, UsageError } from "./src/options.mjs";
import { count, renderSummary, renderTable } from "./src/report.mjs";
import { runAll } from "./src/run-all.mjs";

async function main() {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return process.stdout.write(`${USAGE}\n`);
  const started = performance.now();
  const interruption = new AbortController();
  const results = await runAll(options, { stop: interruption.signal, onServers: endWithUs(interruption) });
  if (interruption.signal.aborted) return;
  const durationMs = Math.round(performance.now() - started);
  const counts = count(results);
  const text = options.json
    ? JSON.stringify({ server: options.server, durationMs, counts, cases: results }, undefined, 2)
    : `${renderTable(results)}\n${renderSummary(results, durationMs)}`;
  process.stdout.write(`${text}\n`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** An interrupted run leaves no server behind: the first signal ends the running cases, a second one exits at once. */
const endWithUs = (interruption) => (servers) => {
  process.once("exit", () => servers.killAll());
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(code);
      process.exitCode = code;
      interruption.abort();
    });
  }
};

main().catch((error) => {
  const text = error instanceof UsageError ? `conformance: ${error.message}\n\n${USAGE}` : String(error.stack);
  process.stderr.write(`${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
