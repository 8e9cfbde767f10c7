import type { Socket } from "node:net";
import { type Address, parseHost, renderAddress } from "@codex/network-policy";
import type { Failure } from "./events.js";
import { readChunk } from "./read-chunk.js";

/** What a client of SOCKS5 wants. RFC 1928. */
export type SocksRequest =
  | { kind: "incomplete" }
  /** Another command than `CONNECT`, or nothing that is SOCKS5; `reply` is to be sent before the connection is closed. */
  | { kind: "refused"; reply: Buffer; text: string }
  | { kind: "connect"; host: string; port: number; end: number };

const VERSION = 5;
const CONNECT = 1;
const [IPV4, NAME, IPV6] = [1, 3, 4];

/** Replies, by what happened. */
const REPLIES: Readonly<Partial<Record<Failure, number>>> = {
  malformed: 1,
  too_many_connections: 1,
  unresolvable: 4,
  timeout: 4,
  unreachable: 5,
};

/** Reply to a refusal: not allowed by the rules. */
const NOT_ALLOWED = 2;
const COMMAND_UNSUPPORTED = 7;
const ADDRESS_UNSUPPORTED = 8;

export function renderReply(reason?: Failure): Buffer {
  return reply(reason === undefined ? 0 : (REPLIES[reason] ?? NOT_ALLOWED));
}

/** The answer to the greeting of a client, and where its request begins; undefined while it is incomplete. */
export function readGreeting(bytes: Buffer): { answer: Buffer; end: number; isAccepted: boolean } | undefined {
  const methods = bytes[1];
  if (methods === undefined || bytes.length < 2 + methods) return undefined;
  const isAccepted = bytes[0] === VERSION && bytes.subarray(2, 2 + methods).includes(0);
  return { answer: Buffer.from([VERSION, isAccepted ? 0 : 0xff]), end: 2 + methods, isAccepted };
}

export function readSocksRequest(bytes: Buffer): SocksRequest {
  const [version, command, , type] = bytes;
  if (type === undefined) return { kind: "incomplete" };
  if (version !== VERSION) return { kind: "refused", reply: reply(1), text: "SOCKS" };
  if (command !== CONNECT)
    return { kind: "refused", reply: reply(COMMAND_UNSUPPORTED), text: `SOCKS command ${command}` };
  const length = type === IPV4 ? 4 : type === IPV6 ? 16 : type === NAME ? bytes[4] : Number.NaN;
  if (length === undefined) return { kind: "incomplete" };
  if (Number.isNaN(length)) {
    return { kind: "refused", reply: reply(ADDRESS_UNSUPPORTED), text: `SOCKS address type ${type}` };
  }
  const start = type === NAME ? 5 : 4;
  const end = start + length + 2;
  if (bytes.length < end) return { kind: "incomplete" };
  const host = bytes.subarray(start, start + length);
  const text = type === NAME ? host.toString("latin1") : renderAddress([...host] as Address);
  const port = bytes.readUInt16BE(start + length);
  if (parseHost(text) === undefined || port === 0) return { kind: "refused", reply: reply(1), text: `${text}:${port}` };
  return { kind: "connect", host: text, port, end };
}

function reply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, IPV4!, 0, 0, 0, 0, 0, 0]);
}

/** Reads until `parse` returns something, and puts the rest back. Undefined if the client ends first. */
export async function readUntil<T>(
  socket: Socket,
  parse: (bytes: Buffer) => { value: T; end: number } | undefined,
): Promise<T | undefined> {
  let held = Buffer.alloc(0);
  for (;;) {
    const found = parse(held);
    if (found !== undefined) {
      if (found.end < held.length) socket.unshift(held.subarray(found.end));
      return found.value;
    }
    const chunk = await readChunk(socket);
    if (chunk === undefined) return undefined;
    held = Buffer.concat([held, chunk]);
  }
}
