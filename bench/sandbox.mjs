// `/bin/true` in our sandbox, and behind a bare bwrap with the same mounts, against none; over the same backend.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 200;
const NAMES = [".git", ".agents", ".codex", ".aws"];

export async function run() {
  const backend = createLocalBackend();
  const support = await backend.getSandboxSupport();
  if (support.kind !== "bubblewrap") {
    console.log(`sandbox: left out, ${support.problem ?? `there is ${support.kind}`}`);
    return backend.close();
  }
  const base = realpathSync(mkdtempSync(join(tmpdir(), "codex-bench-")));
  const measure = (argv, sandbox) => async () => {
    const started = performance.now();
    const spec = { argv, cwd: base, env: { PATH: "/usr/bin:/bin" }, stdio: { kind: "pipe", stdin: "null" } };
    const process = await backend.start(sandbox === undefined ? spec : { ...spec, sandbox });
    const outcome = await process.exited;
    if (outcome.kind !== "exited" || outcome.code !== 0) throw new Error(JSON.stringify(outcome));
    return performance.now() - started;
  };
  const subjects = {
    none: measure(["/bin/true"]),
    "bare bwrap": measure(["/usr/bin/bwrap", ...bareOptions(base), "--", "/bin/true"]),
    ours: measure(["/bin/true"], workspaceWrite(base)),
  };
  try {
    await interleave(subjects, 10);
    const times = await interleave(subjects, ROUNDS);
    const none = median(times.none);
    const bare = median(times["bare bwrap"]) - none;
    const rows = Object.entries(times).map(([name, values]) => ({
      name,
      "median ms": +median(values).toFixed(2),
      "adds ms": +(median(values) - none).toFixed(2),
      "of bare": +((median(values) - none) / bare).toFixed(2),
    }));
    printTable(`/bin/true, start → exit, ${ROUNDS} rounds`, rows);
  } finally {
    await backend.close();
    rmSync(base, { recursive: true, force: true });
  }
}

const workspaceWrite = (base) => ({
  permissions: {
    type: "managed",
    file_system: {
      type: "restricted",
      entries: [
        { path: { type: "special", value: { kind: "root" } }, access: "read" },
        { path: { type: "path", path: base }, access: "write" },
      ],
    },
    network: "restricted",
  },
});

/** Namespaces and mounts as ours; no system call filter, no environment, no report. */
const bareOptions = (base) => [
  ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net"],
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...["sys", "sysrq-trigger", "irq", "bus", "fs", "mtrr", "scsi"].flatMap((name) => [
    "--ro-bind-try",
    `/proc/${name}`,
    `/proc/${name}`,
  ]),
  ...["--bind", base, base],
  ...NAMES.flatMap((name) => ["--perms", "0555", "--tmpfs", join(base, name)]),
  ...NAMES.flatMap((name) => ["--remount-ro", join(base, name)]),
  ...["--chdir", base],
];
