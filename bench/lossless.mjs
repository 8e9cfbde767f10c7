// Programs that write 300 KB and exit at once: counts what arrives, on terminals and pipes, with every core kept busy.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { createLocalBackend } from "@codex/process-host";
import { printTable, quantile } from "./harness.mjs";

const BURST_BYTES = 300_000;
const AT_ONCE = 3;
const { values } = parseArgs({ options: { runs: { type: "string", default: "2000" }, idle: { type: "boolean" } } });
const runs = Number(values.runs);

const burners = values.idle ? 0 : availableParallelism();
const busy = Array.from({ length: burners }, () => spawn(process.execPath, ["-e", "for(;;);"], { stdio: "ignore" }));
const backend = createLocalBackend();
const rows = [];
for (const stdio of [{ kind: "pty" }, { kind: "pipe", stdin: "null" }]) {
  let left = runs;
  let lost = 0;
  const delays = [];
  const worker = async () => {
    while (left-- > 0) {
      const argv = ["sh", "-c", `head -c ${BURST_BYTES} /dev/zero | tr '\\0' a`];
      const program = await backend.start({ argv, cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio });
      await program.exited;
      const exited = performance.now();
      await program.closed;
      delays.push(performance.now() - exited);
      const { chunks } = await program.log.read(0);
      lost += BURST_BYTES - chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
      program.dispose();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  rows.push({
    stdio: stdio.kind,
    runs,
    "bytes lost": lost,
    "exit → complete, median ms": +quantile(delays, 0.5).toFixed(3),
    "p99 ms": +quantile(delays, 0.99).toFixed(1),
  });
}
for (const child of busy) child.kill();
await backend.close();
printTable(`bursts of ${BURST_BYTES} bytes at exit, ${burners} cores kept busy`, rows);
process.exitCode = rows.every((row) => row["bytes lost"] === 0) ? 0 : 1;
