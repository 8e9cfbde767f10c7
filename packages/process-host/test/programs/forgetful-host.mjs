import { createLocalBackend } from "@codex/process-host";

/** Runs a program that leaves another one in its group, prints the pid of that and comes to its end without closing anything. */
const backend = createLocalBackend();
/** With `gated`, under rules for their programs. */
const rules = [{ id: "r", pattern: [["zap"]], decision: "refuse", place: { kind: "inside" } }];
const gated = process.argv.includes("gated") ? { gate: { rules, hostExecutables: [], approved: [] } } : {};
const child = await backend.start({
  argv: ["sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"],
  cwd: "/tmp",
  env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  stdio: { kind: "pipe", stdin: "null" },
  ...gated,
});
await child.closed;
const { chunks } = await child.log.read(0);
process.stdout.write(Buffer.concat(chunks.map((chunk) => chunk.bytes)));
process.disconnect();
