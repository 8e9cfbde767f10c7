import { createLocalBackend } from "@codex/process-host";

/** Starts a sandboxed process of which a program runs outside, prints the pid of that and stays: a host to be killed. */
const backend = createLocalBackend();
const place = { kind: "outside", profile: "unrestricted" };
const entries = [{ path: { type: "path", path: "/" }, access: "read" }];
const child = await backend.start({
  argv: ["/bin/bash", "-c", "sh -c 'echo $$; trap \"\" TERM HUP; while :; do sleep 1; done'; true"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdio: { kind: "pipe", stdin: "null" },
  gate: { rules: [{ id: "sh", pattern: [["sh"]], decision: "allow", place }], hostExecutables: [], approved: [] },
  sandbox: {
    permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
  },
});
await child.log.waitFor(1);
const { chunks } = await child.log.read(0);
process.stdout.write(Buffer.concat(chunks.map((chunk) => chunk.bytes)));
setInterval(() => {}, 1_000_000);
