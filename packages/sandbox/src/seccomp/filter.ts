import { assembleFilter, type FilterOptions, REFUSE, type Rule, UNKNOWN } from "./program.js";
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
 * Without a network no socket can be created at all, not even a Unix socket: a path socket leads out of the sandbox, and
 * a server there acts on behalf of the client. A pair of connected sockets remains possible; but not of datagram sockets, which can be
 * sent to any path. With a network only the families of ordinary programs are left.
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
    return call === undefined ? [] : [{ kind: "always", call, action: REFUSE }];
  });
}

function checkArguments(network: "restricted" | "enabled", name: keyof CallNumbers): Rule[] {
  const number = (key: keyof typeof CHECKED_CALLS): number => CHECKED_CALLS[key][name];
  const families = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];
  const offline: Rule[] = [
    { kind: "always", call: number("socket"), action: REFUSE },
    { kind: "unless", call: number("socketpair"), argument: 0, values: [AF_UNIX], action: REFUSE },
    {
      kind: "unless",
      call: number("socketpair"),
      argument: 1,
      mask: SOCK_TYPE_MASK,
      values: [SOCK_STREAM, SOCK_SEQPACKET],
      action: REFUSE,
    },
  ];
  const online: Rule[] = [
    { kind: "unless", call: number("socket"), argument: 0, values: families, action: REFUSE },
    { kind: "unless", call: number("socketpair"), argument: 0, values: [AF_UNIX], action: REFUSE },
  ];
  return [
    { kind: "ifBits", call: number("clone"), argument: 0, bits: CLONE_NAMESPACES, action: REFUSE },
    // Its flags are in memory, which a filter cannot read; libraries then use `clone`.
    { kind: "always", call: number("clone3"), action: UNKNOWN },
    { kind: "ifBits", call: number("unshare"), argument: 0, bits: UNSHARE_NAMESPACES, action: REFUSE },
    { kind: "if", call: number("ioctl"), argument: 1, values: [TIOCSTI, TIOCLINUX], action: REFUSE },
    ...(network === "restricted" ? offline : online),
  ];
}
