import { bindLibc } from "../libc/bind.js";
import { lastErrno } from "../libc/koffi.js";

interface Functions {
  getsockname(fd: number, address: Uint8Array, bytes: Uint32Array): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  getsockname: "int getsockname(int fd, _Out_ void *address, _Inout_ void *bytes)",
};

/** sys/socket.h of Linux. */
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;

/** The address that a socket is bound to: an IP address and a port, or the path of a unix socket. */
export type SocketAddress = { host: string; port: number } | { path: string };

/** The address of an inherited socket. Linux. @throws Error for what is no socket with an address, or without native code */
export function getSocketAddress(fd: number): SocketAddress {
  const address = Buffer.alloc(128);
  const bytes = Uint32Array.of(address.length);
  const { getsockname } = bindLibc<Functions>(PROTOTYPES);
  if (getsockname(fd, address, bytes) !== 0) throw new Error(`descriptor ${fd} is no socket: errno ${lastErrno()}`);
  const family = new Uint16Array(address.buffer, address.byteOffset, 1)[0];
  const port = address.readUInt16BE(2);
  if (family === AF_INET) return { host: [...address.subarray(4, 8)].join("."), port };
  if (family === AF_INET6) {
    const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(8 + 2 * index).toString(16));
    return { host: new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1), port };
  }
  const path = address.subarray(2, bytes[0]).toString().split("\0", 1)[0] ?? "";
  if (family === AF_UNIX && path !== "") return { path };
  throw new Error(`descriptor ${fd} is a socket of another kind than TCP or a unix socket with a path`);
}
