import { assembleFilter, type Condition, type FilterOptions, REFUSE, type Rule, UNKNOWN } from "./program.js";
import { type CallNumbers, CHECKED_CALLS, REFUSED_CALLS, REFUSED_OFFLINE_CALLS } from "./system-calls.js";

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h; x32 programs have bit 30 in the numbers of their calls. */
const ARCHITECTURES: Partial<Record<string, Omit<FilterOptions, "rules"> & { name: keyof CallNumbers }>> = {
  x64: { name: "x64", architecture: 0xc000003e, foreignFrom: 0x40000000 },
  arm64: { name: "arm64", architecture: 0xc00000b7 },
};

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; `unshare` also has NEWTIME (0x80). */
const CLONE_NAMESPACES = 0x7e020000;
const UNSHARE_NAMESPACES = CLONE_NAMESPACES | 0x80;

/** Types into the terminal of another process. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** Attach to another process, which then stops. */
const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;
/** The first process of the sandbox, whose end is the end of all others. */
const INIT = 1;

/** S_ISUID and S_ISGID: whoever runs such a file, or creates files in such a directory, acts as its owner or group. */
const SET_ID_BITS = 0o6000;
const FILE_TYPE_MASK = 0o170000;
const CHARACTER_DEVICE = 0o020000;
const BLOCK_DEVICE = 0o060000;
/** O_CREAT and __O_TMPFILE, with which `open` has a mode; they are the same on both architectures. */
const CREATING_FLAGS = 0o20000100;
/** Leaves a character device at the old name. */
const RENAME_WHITEOUT = 4;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** The type without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE_MASK = 0xf;

/**
 * The system calls of a sandbox, for `bwrap --seccomp`; undefined for an architecture without a table.
 *
 * No Unix socket can be created: a path or an abstract name leads out of the sandbox, to a server that acts on behalf of its client, and
 * a filter cannot see which. A pair of connected sockets remains possible; but not of datagram sockets, which can be sent to any path.
 * Without a network no other socket can be created either; with one only the families of ordinary programs are left.
 */
export function createSeccompFilter(
  network: "restricted" | "enabled",
  architecture: string = process.arch,
): Buffer | undefined {
  const host = ARCHITECTURES[architecture];
  if (host === undefined) return undefined;
  const { name, ...options } = host;
  const rules = [
    ...refuseAll(REFUSED_CALLS, name),
    ...(network === "restricted" ? refuseAll(REFUSED_OFFLINE_CALLS, name) : []),
    ...checkArguments(network, name),
  ];
  return assembleFilter({ ...options, rules });
}

function refuseAll(calls: Readonly<Record<string, CallNumbers>>, name: keyof CallNumbers): Rule[] {
  return Object.values(calls).flatMap((numbers): Rule[] => {
    const call = numbers[name];
    return call === undefined ? [] : [{ call, action: REFUSE }];
  });
}

function checkArguments(network: "restricted" | "enabled", name: keyof CallNumbers): Rule[] {
  const rule = (key: keyof typeof CHECKED_CALLS, when: readonly Condition[], action = REFUSE): Rule[] => {
    const call = CHECKED_CALLS[key][name];
    return call === undefined ? [] : [{ call, when, action }];
  };
  const families = network === "restricted" ? [] : [AF_INET, AF_INET6, AF_NETLINK];
  const isInit = (argument: number): Condition => ({ argument, isOneOf: [INIT] });
  return [
    ...rule("clone", [{ argument: 0, hasBits: CLONE_NAMESPACES }]),
    // Its flags are in memory, which a filter cannot read; libraries then use `clone`.
    ...rule("clone3", [], UNKNOWN),
    ...rule("unshare", [{ argument: 0, hasBits: UNSHARE_NAMESPACES }]),
    ...rule("ioctl", [{ argument: 1, isOneOf: [TIOCSTI, TIOCLINUX] }]),
    ...rule("socket", [{ argument: 0, isNoneOf: families }]),
    ...rule("socketpair", [{ argument: 0, isNoneOf: [AF_UNIX] }]),
    ...rule("socketpair", [{ argument: 1, mask: SOCK_TYPE_MASK, isNoneOf: [SOCK_STREAM, SOCK_SEQPACKET] }]),
    ...rule("ptrace", [{ argument: 0, isOneOf: [PTRACE_ATTACH, PTRACE_SEIZE] }, isInit(1)]),
    ...rule("process_vm_readv", [isInit(0)]),
    ...rule("process_vm_writev", [isInit(0)]),
    ...SET_MODES.flatMap(([key, argument]) => rule(key, [{ argument, hasBits: SET_ID_BITS }])),
    ...OPENS.flatMap(([key, flags]) =>
      rule(key, [
        { argument: flags, hasBits: CREATING_FLAGS },
        { argument: flags + 1, hasBits: SET_ID_BITS },
      ]),
    ),
    // Its mode is in memory; programs then use `openat`.
    ...rule("openat2", [], UNKNOWN),
    ...MAKE_NODES.flatMap(([key, argument]) =>
      rule(key, [{ argument, mask: FILE_TYPE_MASK, isOneOf: [CHARACTER_DEVICE, BLOCK_DEVICE] }]),
    ),
    ...rule("renameat2", [{ argument: 4, hasBits: RENAME_WHITEOUT }]),
  ];
}

type CheckedCall = keyof typeof CHECKED_CALLS;

const MAKE_NODES: readonly (readonly [CheckedCall, argument: number])[] = [
  ["mknod", 1],
  ["mknodat", 2],
];

/** The calls that set the mode of a file, and which argument it is. */
const SET_MODES: readonly (readonly [CheckedCall, argument: number])[] = [
  ["chmod", 1],
  ["fchmod", 1],
  ["fchmodat", 2],
  ["fchmodat2", 2],
  ["creat", 1],
  ["mkdir", 1],
  ["mkdirat", 2],
  ...MAKE_NODES,
];

/** The calls that set it only if they create the file, and which argument their flags are; the mode follows. */
const OPENS: readonly (readonly [CheckedCall, flags: number])[] = [
  ["open", 1],
  ["openat", 2],
];
