import { createLocalBackend } from "@codex/process-host";

/** Runs a program of Python in a sandbox, with or without a network, tells of its wrapper once it is ready, and stays: a host to be killed. */
const [, , program, network, workspace] = process.argv;
const backend = createLocalBackend();
const entry = { path: { type: "special", value: { kind: "root" } }, access: "read" };
const opened = workspace === undefined ? [] : [{ path: { type: "path", path: workspace }, access: "write" }];
const fileSystem = { type: "restricted", entries: [entry, ...opened] };
const child = await backend.start({
  argv: ["python3", program],
  cwd: "/",
  env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  stdio: { kind: "pipe", stdin: "null" },
  sandbox: { permissions: { type: "managed", file_system: fileSystem, network } },
});
let text = "";
while (!text.includes("tampered") && !child.log.complete) {
  await child.log.waitFor(child.log.end);
  text = Buffer.concat((await child.log.read(0)).chunks.map((chunk) => chunk.bytes)).toString();
}
process.stdout.write(`${JSON.stringify({ pid: child.pid, text })}\n`);
setInterval(() => {}, 1_000_000);
