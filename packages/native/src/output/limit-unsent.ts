import type { Socket } from "node:net";
import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";
import { LOCAL_SEND_BUFFER_BYTES, MAX_UNSENT_BYTES } from "../limits.js";
import { setSendBuffer } from "./send-buffer.js";

interface Functions {
  setsockopt(fd: number, level: number, option: number, value: Int32Array, valueBytes: number): number;
}

const PROTOTYPES: Readonly<Record<keyof Functions, string>> = {
  setsockopt: "int setsockopt(int fd, int level, int option, const void *value, unsigned int value_bytes)",
};

const IPPROTO_TCP = 6;
/** netinet/tcp.h */
const TCP_NOTSENT_LOWAT = process.platform === "darwin" ? 0x201 : 25;

/**
 * Bounds the unsent bytes that the kernel buffers for a connection, so that a response does not wait behind megabytes of
 * output. Bytes in flight are not bounded, so a connection with a long round trip is not slowed down; on Linux they are if the
 * peer is on the same host. Takes effect when the socket first drains; without effect where the options are not supported.
 */
export function createUnsentLimit(library?: Library): (socket: Socket) => void {
  let functions: Functions | undefined;
  const limit = (socket: Socket) => {
    const fd = fdOf(socket);
    if (fd === undefined) return;
    if (isLocal(socket)) setSendBuffer(fd, LOCAL_SEND_BUFFER_BYTES);
    try {
      functions ??= bindLibc<Functions>(PROTOTYPES, library);
      functions.setsockopt(
        fd,
        IPPROTO_TCP,
        TCP_NOTSENT_LOWAT,
        Int32Array.of(MAX_UNSENT_BYTES),
        Int32Array.BYTES_PER_ELEMENT,
      );
    } catch {
      // no such function, or no koffi: not fatal, as it only delays responses
    }
  };
  return (socket) => socket.once("drain", () => limit(socket));
}

/** The descriptor of a socket, which Node has no public API for. */
function fdOf(socket: Socket & { _handle?: { fd?: number } | null }): number | undefined {
  const fd = socket._handle?.fd;
  return fd !== undefined && fd >= 0 ? fd : undefined;
}

/** Of TCP only: the kernel buffers less for a unix socket anyway. */
function isLocal({ remoteAddress = "" }: Socket): boolean {
  return remoteAddress === "::1" || /^(?:::ffff:)?127\./.test(remoteAddress);
}
