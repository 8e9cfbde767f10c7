import { createLocalBackend } from "@codex/process-host";

/** Ends a process that sleeps; prints what was said of it. */
const backend = createLocalBackend();
const sleeper = await backend.start({
  argv: ["sleep", "300"],
  cwd: "/",
  env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  stdio: { kind: "pipe", stdin: "open" },
});
const wait = await sleeper.getInputWait();
const receipt = await sleeper.terminate({ graceMs: 5_000 });
process.stdout.write(JSON.stringify({ receipt, wait }));
await backend.close();
