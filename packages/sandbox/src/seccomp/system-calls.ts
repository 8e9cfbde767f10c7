/** Numbers of system calls: asm/unistd_64.h of x86-64, and asm-generic/unistd.h, which arm64 uses. */
export interface CallNumbers {
  x64: number;
  /** Undefined where the architecture has none. */
  arm64: number | undefined;
}

const call = <Arm64 extends number | undefined>(x64: number, arm64: Arm64) => ({ x64, arm64 });

/** Calls that are always refused: no program in a sandbox needs them, and each can reach outside it, or exposes much of the kernel. */
export const REFUSED_CALLS = {
  // Namespaces and mounts: with them, read-only paths could be made writable.
  mount: call(165, 40),
  umount2: call(166, 39),
  pivot_root: call(155, 41),
  chroot: call(161, 51),
  setns: call(308, 268),
  open_tree: call(428, 428),
  open_tree_attr: call(467, 467),
  move_mount: call(429, 429),
  fsopen: call(430, 430),
  fsconfig: call(431, 431),
  fsmount: call(432, 432),
  fspick: call(433, 433),
  mount_setattr: call(442, 442),
  open_by_handle_at: call(304, 265),
  // Interfaces that bypass the checks of this filter, or inspect what is outside.
  io_uring_setup: call(425, 425),
  io_uring_enter: call(426, 426),
  io_uring_register: call(427, 427),
  bpf: call(321, 280),
  perf_event_open: call(298, 241),
  userfaultfd: call(323, 282),
  pidfd_getfd: call(438, 438),
  kcmp: call(312, 272),
  fanotify_init: call(300, 262),
  lookup_dcookie: call(212, 18),
  // The keys of the user are not part of any namespace.
  add_key: call(248, 217),
  request_key: call(249, 218),
  keyctl: call(250, 219),
  // The machine itself.
  kexec_load: call(246, 104),
  kexec_file_load: call(320, 294),
  init_module: call(175, 105),
  finit_module: call(313, 273),
  delete_module: call(176, 106),
  reboot: call(169, 142),
  swapon: call(167, 224),
  swapoff: call(168, 225),
  acct: call(163, 89),
  quotactl: call(179, 60),
  quotactl_fd: call(443, 443),
  syslog: call(103, 116),
  settimeofday: call(164, 170),
  clock_settime: call(227, 112),
  vhangup: call(153, 58),
  ioperm: call(173, undefined),
  iopl: call(172, undefined),
  uselib: call(134, undefined),
} as const satisfies Record<string, CallNumbers>;

/** Refused as well without a network: Codex 0.169.0 does. */
export const REFUSED_OFFLINE_CALLS = {
  ptrace: call(101, 117),
  process_vm_readv: call(310, 270),
  process_vm_writev: call(311, 271),
  connect: call(42, 203),
  bind: call(49, 200),
  listen: call(50, 201),
  accept: call(43, 202),
  accept4: call(288, 242),
} as const satisfies Record<string, CallNumbers>;

/** Calls that depend on their arguments. */
export const CHECKED_CALLS = {
  clone: call(56, 220),
  clone3: call(435, 435),
  unshare: call(272, 97),
  ioctl: call(16, 29),
  socket: call(41, 198),
  socketpair: call(53, 199),
  ptrace: REFUSED_OFFLINE_CALLS.ptrace,
  process_vm_readv: REFUSED_OFFLINE_CALLS.process_vm_readv,
  process_vm_writev: REFUSED_OFFLINE_CALLS.process_vm_writev,
  chmod: call(90, undefined),
  fchmod: call(91, 52),
  fchmodat: call(268, 53),
  fchmodat2: call(452, 452),
  creat: call(85, undefined),
  mkdir: call(83, undefined),
  mkdirat: call(258, 34),
  mknod: call(133, undefined),
  mknodat: call(259, 33),
  open: call(2, undefined),
  openat: call(257, 56),
  openat2: call(437, 437),
  renameat2: call(316, 276),
} as const satisfies Record<string, CallNumbers>;
