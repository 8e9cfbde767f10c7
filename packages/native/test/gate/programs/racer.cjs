// Starts a program so many times while another thread changes its path. Arguments: times, a path, and another of the same length.
const { Worker, isMainThread, workerData } = require("node:worker_threads");
const koffi = require("koffi");

if (!isMainThread) {
  const { path, one, other } = workerData;
  const bytes = new Uint8Array(path);
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  for (;;) {
    bytes.set(a);
    bytes.set(b);
  }
}

const [times, one, other] = process.argv.slice(2);
const libc = koffi.load(null);
const spawn = libc.func(
  "int posix_spawn(_Out_ int *pid, void *path, void *actions, void *attr, const char **argv, const char **env)",
);
const wait = libc.func("int waitpid(int pid, _Out_ int *status, int options)");
const path = new SharedArrayBuffer(one.length + 1);
Buffer.from(path).write(one);
new Worker(__filename, { workerData: { path, one, other } }).once("online", () => {
  const env = [`WS=${process.env.WS}`, "PATH=/usr/bin:/bin", null];
  let refused = 0;
  for (let count = 0; count < Number(times); count += 1) {
    const [pid, status] = [[0], [0]];
    if (spawn(pid, Buffer.from(path), null, null, ["x", null], env) !== 0) refused += 1;
    else wait(pid[0], status, 0);
  }
  console.log(refused > 0 ? "refused some" : "refused none");
  process.exit(0);
});
