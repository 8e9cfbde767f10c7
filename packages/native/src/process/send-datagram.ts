import { closeSync } from "node:fs";
import { bindLibc } from "../libc/bind.js";
import { lastErrno } from "../libc/koffi.js";

interface Functions {
  socket(domain: number, type: number, protocol: number): number;
  sendto(fd: number, data: Uint8Array, bytes: bigint, flags: number, to: Uint8Array, toBytes: number): number | bigint;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  socket: "int socket(int domain, int type, int protocol)",
  sendto: "int64_t sendto(int fd, const void *data, uint64_t bytes, int flags, const void *to, unsigned int to_bytes)",
};

/** sys/socket.h of Linux. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
const MSG_DONTWAIT = 0x40;

/** Longest path of a unix socket on Linux, bytes. */
const MAX_PATH_BYTES = 107;

/**
 * Sends one datagram to a unix socket, which Node cannot. Linux.
 * @param path absolute, or `@` and the name of an abstract socket
 * @throws Error without native code, or when it could not be sent
 */
export function sendDatagram(path: string, text: string): void {
  const name = Buffer.from(path.startsWith("@") ? `\0${path.slice(1)}` : path);
  if (name.length > MAX_PATH_BYTES) throw new Error(`the path of the socket has more than ${MAX_PATH_BYTES} bytes`);
  const family = Buffer.from(Uint16Array.of(AF_UNIX).buffer);
  const address = Buffer.concat([family, name, Buffer.alloc(name[0] === 0 ? 0 : 1)]);
  const { socket, sendto } = bindLibc<Functions>(PROTOTYPES);
  const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new Error(`socket: errno ${lastErrno()}`);
  try {
    const data = Buffer.from(text);
    const sent = sendto(fd, data, BigInt(data.length), MSG_NOSIGNAL | MSG_DONTWAIT, address, address.length);
    if (Number(sent) !== data.length) throw new Error(`sendto: errno ${lastErrno()}`);
  } finally {
    closeSync(fd);
  }
}
