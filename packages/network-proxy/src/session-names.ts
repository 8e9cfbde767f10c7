import type { Socket as DatagramSocket } from "node:dgram";
import { type Host, isLocalhostName, parseHost } from "@codex/network-policy";
import { MAX_NAMES } from "./limits.js";

/**
 * The DNS of a session: each name gets a loopback address of its own, for as long as the session lives, so that a
 * connection to that address tells the name. No name is passed on to another server.
 */
export class SessionNames {
  readonly #hosts: Host[] = [];
  readonly #indexes = new Map<string, number>();

  /** The host whose address this is: one that `serve` gave out. */
  find(address: string): Host | undefined {
    const [first, second = 0, third = 0, fourth = 0] = address
      .replace(/^::ffff:/, "")
      .split(".")
      .map(Number);
    if (first !== 127 || second < FIRST_SECOND) return undefined;
    return this.#hosts[((second - FIRST_SECOND) * 256 + third) * 256 + fourth - 1];
  }

  /** The address of a host, in bytes; undefined once there are too many. */
  getAddress(host: Host): [number, number, number, number] | undefined {
    if (isLocalhostName(host.text)) return [127, 0, 0, 1];
    const index = this.#indexes.get(host.text) ?? this.#add(host);
    if (index === undefined) return undefined;
    const number = index + 1;
    return [127, FIRST_SECOND + Math.floor(number / 65_536), Math.floor(number / 256) % 256, number % 256];
  }

  /** Answers the queries that a socket receives. The caller closes it. @param onAddress a host's address was asked for */
  serve(socket: DatagramSocket, onAddress: (host: Host) => void): void {
    socket.on("message", (query, { address, port }) => {
      const answer = this.answer(query, onAddress);
      // The sender may be gone.
      if (answer !== undefined) socket.send(answer, port, address, () => undefined);
    });
  }

  /** The answer to a query of one name, RFC 1035, 4.1; undefined if it is none. */
  answer(query: Buffer, onAddress: (host: Host) => void = () => undefined): Buffer | undefined {
    const question = readQuestion(query);
    if (question === undefined) return undefined;
    const { name, type, end } = question;
    const host = parseHost(name);
    const address = host === undefined || host.address !== undefined ? undefined : this.getAddress(host);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    const isAnswered = address !== undefined && type === TYPE_A;
    if (host !== undefined && isAnswered && !isLocalhostName(host.text)) onAddress(host);
    const code = host === undefined ? NAME_ERROR : address === undefined ? SERVER_FAILURE : 0;
    // A response, with recursion as it was wanted, and available.
    head.writeUInt16BE(0x8080 | (query.readUInt16BE(2) & 0x0100) | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(isAnswered ? 1 : 0, 6);
    const answer = isAnswered ? [Buffer.from([...ANSWER_HEAD, ...address])] : [];
    return Buffer.concat([head, query.subarray(12, end), ...answer]);
  }

  #add(host: Host): number | undefined {
    if (this.#hosts.length >= MAX_NAMES) return undefined;
    this.#indexes.set(host.text, this.#hosts.length);
    return this.#hosts.push(host) - 1;
  }
}

/** Second byte of the first address: the upper half of 127.0.0.0/8, whose lower half programs use for themselves. */
const FIRST_SECOND = 128;
const TYPE_A = 1;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
/** The name of the question, type A, class IN, 60 s, 4 bytes. */
const ANSWER_HEAD = [0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4];

function readQuestion(query: Buffer): { name: string; type: number; end: number } | undefined {
  // A standard query with one question, and no response.
  if (query.length < 12 || (query.readUInt16BE(2) & 0xf800) !== 0 || query.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > 63 || at - 12 > 254) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(query.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > query.length) return undefined;
  return { name: labels.join("."), type: query.readUInt16BE(at), end: at + 4 };
}
