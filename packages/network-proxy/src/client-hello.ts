/** What the first bytes of a connection say about the name that its client expects. */
export type ClientHello =
  /** More bytes are needed. */
  | { kind: "incomplete" }
  /** No TLS handshake. */
  | { kind: "other" }
  /** A TLS handshake that is malformed. */
  | { kind: "invalid" }
  /** `name` is absent where the client names none. */
  | { kind: "hello"; name?: string };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** Reads the server name of a TLS ClientHello, which may be spread over several records. RFC 8446, 4.1.2; RFC 6066, 3. */
export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE_RECORD) return { kind: "other" };
  if (bytes.length > 1 && bytes[1] !== 3) return { kind: "other" };
  const handshake = joinRecords(bytes);
  if (handshake === "invalid") return { kind: "invalid" };
  if (handshake.length > 0 && handshake[0] !== CLIENT_HELLO) return { kind: "invalid" };
  if (handshake.length < 4) return { kind: "incomplete" };
  const length = handshake.readUIntBE(1, 3);
  if (handshake.length < 4 + length) return { kind: "incomplete" };
  try {
    const name = readServerName(new Reader(handshake.subarray(4, 4 + length)));
    return name === undefined ? { kind: "hello" } : { kind: "hello", name };
  } catch (error) {
    if (error instanceof RangeError) return { kind: "invalid" };
    throw error;
  }
}

/** The contents of the whole records at the beginning, and of one that has begun. */
function joinRecords(bytes: Buffer): Buffer | "invalid" {
  const parts: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return "invalid";
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0) return "invalid";
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

function readServerName(hello: Reader): string | undefined {
  hello.skip(2 + 32); // version, random
  hello.vector(1); // session id
  hello.vector(2); // cipher suites
  hello.vector(1); // compression methods
  if (hello.isAtEnd) return undefined;
  const extensions = hello.vector(2);
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const extension = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    const names = extension.vector(2);
    const nameType = names.number(1);
    const name = names.vector(2);
    // A second name would leave open which of them the server takes.
    if (nameType !== HOST_NAME || !names.isAtEnd || !extension.isAtEnd) throw new RangeError("one host name expected");
    return name.text();
  }
  return undefined;
}

/** Reads from the beginning to the end. @throws RangeError past the end */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(width: 1 | 2): number {
    const start = this.#at;
    this.skip(width);
    return this.#bytes.readUIntBE(start, width);
  }

  /** What a length of `width` bytes announces. */
  vector(width: 1 | 2): Reader {
    const length = this.number(width);
    const start = this.#at;
    this.skip(length);
    return new Reader(this.#bytes.subarray(start, start + length));
  }

  skip(length: number): void {
    if (this.#at + length > this.#bytes.length) throw new RangeError("past the end");
    this.#at += length;
  }

  text(): string {
    return this.#bytes.toString("latin1");
  }
}
