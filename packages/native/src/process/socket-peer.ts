import type { Socket } from "node:net";
import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";

interface Functions {
  getsockopt(fd: number, level: number, option: number, value: Int32Array, valueBytes: Uint32Array): number;
  getpeereid(fd: number, uid: Uint32Array, gid: Uint32Array): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  getsockopt: "int getsockopt(int fd, int level, int option, _Out_ void *value, _Inout_ void *value_bytes)",
  getpeereid: "int getpeereid(int fd, _Out_ void *uid, _Out_ void *gid)",
};

/** sys/socket.h of Linux, except MIPS, PowerPC and SPARC. */
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const ARCHITECTURES: ReadonlySet<string> = new Set(["x64", "arm64", "arm", "ia32", "riscv64", "loong64", "s390x"]);

/** The process at the other end of a unix socket, as of its connect. */
export interface SocketPeer {
  readonly uid: number;
  /** 0 for a process that this one cannot see. Undefined on macOS. */
  readonly pid?: number;
}

/**
 * Returns a function for the peer of a unix socket. It returns undefined where the system does not report it, or native code is missing;
 * then only the mode of the socket's directory protects the socket.
 */
export function createPeerReader(library?: Library): (socket: Socket) => SocketPeer | undefined {
  let functions: Functions | undefined;
  return (socket) => {
    const fd = fdOf(socket);
    if (fd === undefined) return undefined;
    try {
      functions ??= bindLibc<Functions>(PROTOTYPES, library);
      return process.platform === "darwin" ? getMacPeer(functions, fd) : getLinuxPeer(functions, fd);
    } catch {
      return undefined;
    }
  };
}

function getLinuxPeer({ getsockopt }: Functions, fd: number): SocketPeer | undefined {
  if (!ARCHITECTURES.has(process.arch)) return undefined;
  // struct ucred: pid, uid, gid
  const credentials = new Int32Array(3);
  const bytes = Uint32Array.of(credentials.byteLength);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, bytes) !== 0 || bytes[0] !== credentials.byteLength) {
    return undefined;
  }
  return { pid: credentials[0]!, uid: credentials[1]! >>> 0 };
}

function getMacPeer({ getpeereid }: Functions, fd: number): SocketPeer | undefined {
  const uid = new Uint32Array(1);
  return getpeereid(fd, uid, new Uint32Array(1)) === 0 ? { uid: uid[0]! } : undefined;
}

/** The descriptor of a socket, which Node has no public API for. */
function fdOf(socket: Socket & { _handle?: { fd?: number } | null }): number | undefined {
  const fd = socket._handle?.fd;
  return fd !== undefined && fd >= 0 ? fd : undefined;
}
