// Starts programs in ways that shells do not. Arguments: how, a file, and the words of the program, its name first.
// Prints the errno of a call that failed, and exits with 3.
const { readFileSync, writeSync } = require("node:fs");
const { Worker, isMainThread, workerData } = require("node:worker_threads");
const koffi = require("koffi");

const libc = koffi.load(null);
const func = (prototype) => libc.func(prototype);
const execve = func("int execve(const char *path, const char **argv, const char **env)");
const execveat = func("int execveat(int fd, const char *path, const char **argv, const char **env, int flags)");
const prctl = func("int prctl(int option, ulong value, void *filter, ulong d, ulong e)");
const AT_EMPTY_PATH = 0x1000;
const SECCOMP = { x64: 317, arm64: 277 }[process.arch];
const EXECVE = { x64: 59, arm64: 221 }[process.arch];

const [how, file, ...words] = isMainThread ? process.argv.slice(2) : workerData;
const argv = [...words, null];
const env = [...Object.entries(process.env).map(([name, value]) => `${name}=${value}`), null];
// Node does not pass its streams on to what replaces it.
for (const fd of [0, 1, 2]) func("int fcntl(int fd, int command, int value)")(fd, 2, 0);
const fail = () => {
  writeSync(1, `errno ${koffi.errno()}\n`);
  process.exit(3);
};

const ways = {
  plain() {
    execve(file, argv, env);
    fail();
  },
  /** From a file without a name. */
  memory() {
    const fd = func("int memfd_create(const char *name, int flags)")("x", 0);
    writeSync(fd, readFileSync(file));
    execveat(fd, "", argv, env, AT_EMPTY_PATH);
    fail();
  },
  descriptor() {
    execveat(func("int open(const char *path, int flags)")(file, 0o10000000), "", argv, env, AT_EMPTY_PATH);
    fail();
  },
  "bad-descriptor"() {
    execveat(999, "", argv, env, AT_EMPTY_PATH);
    fail();
  },
  "bad-pointer"() {
    func("int execve(intptr_t path, void *argv, void *env)")(8, null, null);
    fail();
  },
  /** Below a directory. */
  relative() {
    const fd = func("int open(const char *path, int flags)")(file, 0o10000000);
    execveat(fd, words[0], argv, env, 0);
    fail();
  },
  "no-words"() {
    func("int execve(const char *path, void *argv, void *env)")(file, null, null);
    fail();
  },
  /** Nobody of the same user may read its memory. */
  hidden() {
    prctl(4, 0, null, 0, 0);
    execve(file, argv, env);
    fail();
  },
  /** A thread that is not the first one. */
  thread() {
    if (isMainThread) new Worker(__filename, { workerData: process.argv.slice(2) });
    else ways.plain();
  },
  /** With a filter of its own that wants a tracer for execve. */
  filter() {
    install(0, 0x7ff00000);
    ways.plain();
  },
  /** A second listener. */
  listener() {
    if (install(8, 0x7fc00000) < 0) writeSync(1, `errno ${koffi.errno()}\n`);
    ways.plain();
  },
};

function install(flags, action) {
  const code = Buffer.alloc(32);
  [
    [0x20, 0, 0, 0],
    [0x15, 0, 1, EXECVE],
    [0x06, 0, 0, action],
    [0x06, 0, 0, 0x7fff0000],
  ].forEach(([operation, yes, no, value], index) => {
    code.writeUInt16LE(operation, index * 8);
    code[index * 8 + 2] = yes;
    code[index * 8 + 3] = no;
    code.writeUInt32LE(value, index * 8 + 4);
  });
  const program = Buffer.alloc(16);
  program.writeUInt16LE(4, 0);
  program.writeBigUInt64LE(BigInt(koffi.address(code)), 8);
  prctl(38, 1, null, 0, 0);
  return func("long syscall(long number, uint operation, uint flags, void *program)")(SECCOMP, 1, flags, program);
}

ways[how]();
