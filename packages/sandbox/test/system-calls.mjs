// Run inside a sandbox: tries system calls and prints for each the error it got, or "ok".
import { createRequire } from "node:module";
import { constants } from "node:os";

const koffi = createRequire(new URL("../../native/src/", import.meta.url))("koffi");
const libc = koffi.load(null);
const syscall = libc.func("long syscall(long number, ...)");
const arm = process.arch === "arm64";
const call = (number, ...args) => {
  const result = syscall(
    number,
    ...args.flatMap((value) => (typeof value === "string" ? ["const char *", value] : ["long", value])),
  );
  if (result >= 0) return "ok";
  const errno = koffi.errno();
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? String(errno);
};
const [x64, arm64] = [0, 1];
const NUMBERS = {
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  ptrace: [101, 117],
  ioctl: [16, 29],
  unshare: [272, 97],
  clone: [56, 220],
  clone3: [435, 435],
  mount: [165, 40],
  umount2: [166, 39],
  setns: [308, 268],
  bpf: [321, 280],
  keyctl: [250, 219],
  io_uring_setup: [425, 425],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_by_handle_at: [304, 265],
  move_mount: [429, 429],
  process_vm_readv: [310, 270],
  mknodat: [259, 33],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  openat: [257, 56],
  openat2: [437, 437],
  mkdirat: [258, 34],
};
const number = (name) => NUMBERS[name][arm ? arm64 : x64];
const TIOCSTI = 0x5412;
const NEWUSER = 0x10000000;
const AT_FDCWD = -100;
const pair = Buffer.alloc(8);
const pointer = (buffer) => Number(koffi.address(buffer));
const results = {
  ipv4: call(number("socket"), 2, 1, 0),
  ipv6: call(number("socket"), 10, 2, 0),
  netlink: call(number("socket"), 16, 3, 0),
  packet: call(number("socket"), 17, 3, 0),
  vsock: call(number("socket"), 40, 1, 0),
  unix: call(number("socket"), 1, 1, 0),
  "unix pair": call(number("socketpair"), 1, 1, 0, pointer(pair)),
  "unix datagram pair": call(number("socketpair"), 1, 2, 0, pointer(pair)),
  "pair with flags": call(number("socketpair"), 1, 1 | 0o2000000, 0, pointer(pair)),
  connect: call(number("connect"), 0, 0, 0),
  bind: call(number("bind"), 0, 0, 0),
  ptrace: call(number("ptrace"), 3, 1, 0, 0),
  process_vm_readv: call(number("process_vm_readv"), 1, 0, 0, 0, 0, 0),
  tiocsti: call(number("ioctl"), 0, TIOCSTI, pointer(Buffer.from("x"))),
  // Only the lower half of the number counts for the kernel.
  "tiocsti in disguise": call(number("ioctl"), 0, 2 ** 32 + TIOCSTI, pointer(Buffer.from("x"))),
  "unshare user": call(number("unshare"), NEWUSER),
  "unshare time": call(number("unshare"), 0x80),
  "clone user": call(number("clone"), NEWUSER | 17, 0, 0, 0, 0),
  clone3: call(number("clone3"), 0, 0),
  mount: call(number("mount"), "none", "/tmp", "tmpfs", 0, 0),
  remount: call(number("mount"), "none", "/", "", 32, 0),
  umount: call(number("umount2"), "/proc", 2),
  setns: call(number("setns"), 0, 0),
  move_mount: call(number("move_mount"), 0, "", 0, "", 0),
  pivot_root: call(number("pivot_root"), "/", "/"),
  chroot: call(number("chroot"), "/tmp"),
  open_by_handle_at: call(number("open_by_handle_at"), 0, 0, 0),
  bpf: call(number("bpf"), 0, 0, 0),
  keyctl: call(number("keyctl"), 0, 0, 0),
  io_uring_setup: call(number("io_uring_setup"), 1, 0),
  perf_event_open: call(number("perf_event_open"), 0, 0, 0, 0, 0),
  userfaultfd: call(number("userfaultfd"), 0),
  "block device": call(number("mknodat"), AT_FDCWD, "device", 0o60600, 8 * 256),
  "character device": call(number("mknodat"), AT_FDCWD, "memory", 0o20600, 256 + 1),
  fifo: call(number("mknodat"), AT_FDCWD, "fifo", 0o10600, 0),
  "set-user-id fchmod": call(number("fchmod"), 1, 0o4755),
  "set-user-id fchmodat": call(number("fchmodat"), AT_FDCWD, "fifo", 0o4755),
  "set-group-id fchmodat2": call(number("fchmodat2"), AT_FDCWD, "fifo", 0o2755, 0),
  "set-user-id file": call(number("openat"), AT_FDCWD, "set-id", 0o101, 0o4755),
  "set-group-id temporary file": call(number("openat"), AT_FDCWD, ".", 0o20200001, 0o2755),
  "set-user-id openat2": call(number("openat2"), AT_FDCWD, "set-id", pointer(Buffer.alloc(24)), 24),
  "set-user-id node": call(number("mknodat"), AT_FDCWD, "set-id", 0o104755, 0),
  "set-group-id directory": call(number("mkdirat"), AT_FDCWD, "set-id", 0o2755),
  "trace init": call(number("ptrace"), 16, 1, 0, 0),
  "seize init": call(number("ptrace"), 0x4206, 1, 0, 0),
  ...(arm ? {} : { x32: call(0x40000000 + 39) }),
};
console.log(JSON.stringify(results));
