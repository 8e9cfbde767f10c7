import { bindLibc } from "../libc/bind.js";

interface Functions {
  setsockopt(fd: number, level: number, option: number, value: Int32Array, valueBytes: number): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  setsockopt: "int setsockopt(int fd, int level, int option, const void *value, unsigned int value_bytes)",
};

/** sys/socket.h of Linux. */
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

/**
 * Lets the kernel buffer so many bytes that are written to a socket and not read yet, or as many as the system allows. Linux;
 * without effect elsewhere and on other descriptors.
 */
export function setSendBuffer(fd: number, bytes: number): void {
  if (process.platform !== "linux") return;
  try {
    const { setsockopt } = bindLibc<Functions>(PROTOTYPES);
    // The kernel doubles the value, as it counts its own structures as well.
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, Int32Array.of(bytes), Int32Array.BYTES_PER_ELEMENT);
  } catch {
    // no such function, or no koffi: only slower
  }
}
