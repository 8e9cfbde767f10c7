import { createLocalBackend } from "@codex/process-host";

/** Starts processes that leave their groups, prints the pids of those and of their parents, and stays: a host to be killed. */
const SCRIPTS = [
  "setsid sleep 300 & echo $! $$; wait; sleep 300",
  "setsid sh -c 'trap \"\" HUP TERM INT; sleep 300 & echo $! $$; exec sleep 300'; sleep 300",
  "(setsid sh -c 'sleep 300 & echo $! $!' &)",
];
const backend = createLocalBackend();
const pids = [];
for (const script of SCRIPTS) {
  for (const stdio of [{ kind: "pty" }, { kind: "pipe", stdin: "null" }]) {
    const argv = ["bash", "-c", `trap '' HUP; ${script}`];
    const child = await backend.start({ argv, cwd: "/tmp", env: { PATH: process.env.PATH ?? "/usr/bin:/bin" }, stdio });
    await child.log.waitFor(1);
    const { chunks } = await child.log.read(0);
    pids.push(
      ...Buffer.concat(chunks.map((chunk) => chunk.bytes))
        .toString()
        .trim()
        .split(" ")
        .map(Number),
    );
  }
}
process.stdout.write(`${JSON.stringify(pids)}\n`);
setInterval(() => {}, 1_000_000);
