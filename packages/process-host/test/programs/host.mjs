import { createLocalBackend } from "@codex/process-host";

/** Starts two processes with children, prints the pids and stays: a host to be killed. */
const backend = createLocalBackend();
/** With `gated`, under rules for their programs. */
const rules = [{ id: "r", pattern: [["zap"]], decision: "refuse", place: { kind: "inside" } }];
const gated = process.argv.includes("gated") ? { gate: { rules, hostExecutables: [], approved: [] } } : {};
const pids = [];
for (const stdio of [{ kind: "pty" }, { kind: "pipe", stdin: "null" }]) {
  const child = await backend.start({
    argv: ["sh", "-c", "trap '' HUP TERM INT; sleep 300 & echo $!; wait; sleep 300"],
    cwd: "/tmp",
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    stdio,
    ...gated,
  });
  await child.log.waitFor(1);
  const { chunks } = await child.log.read(0);
  pids.push(child.pid, Number(Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString()));
}
process.stdout.write(`${JSON.stringify(pids)}\n`);
setInterval(() => {}, 1_000_000);
