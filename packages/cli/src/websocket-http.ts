import { EventEmitter } from "node:events";
import { type ClientRequest, request as nodeRequest, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** What `ws` asks for. */
export interface UpgradeOptions extends Pick<RequestOptions, "auth" | "timeout"> {
  host: string;
  port: string | number;
  path: string;
  headers: Readonly<Record<string, string | number>>;
  createConnection(options: RequestOptions): Socket;
}

/**
 * The part of `node:http` that clients of `ws` use; the build replaces that module by this one, as loading it takes longer than a
 * handshake. Requests and responses that are not those of an ordinary upgrade are left to `node:http`.
 */
export function request(options: UpgradeOptions) {
  const lines = Object.entries(options.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const isOrdinary = options.auth === undefined && options.timeout === undefined && PATH.test(options.path);
  return isOrdinary && lines.every((line) => HEADER_LINE.test(line) && !/^host:/i.test(line))
    ? new UpgradeRequest(options, lines.join(""))
    : nodeRequest(options);
}

const PATH = /^[!-~]+$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [!-~][\t -~]*\r\n$/;
const STATUS_LINE = /^HTTP\/1\.1 101(?: [\t -~\x80-\xff]*)?$/;
const RESPONSE_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[!-~\x80-\xff][\t -~\x80-\xff]*)?)$/;
const CONNECTION_UPGRADE = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;
const RESPONSE_START = "HTTP/1.1 101";
const LINE_END = "\r\n";
const HEAD_END = "\r\n\r\n";

/** As in Node. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Emits `upgrade`, `response`, `error` and `close` as a `ClientRequest` does, which `ws` recognizes by `setHeader`. */
class UpgradeRequest extends EventEmitter {
  readonly #options: UpgradeOptions;
  readonly #head: string;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #delegate?: ClientRequest;

  constructor(options: UpgradeOptions, headers: string) {
    super();
    const { host, port, path } = options;
    const name = host.includes(":") ? `[${host}]` : host;
    const authority = Number(port) === 80 ? name : `${name}:${port}`;
    this.#options = options;
    this.#head = `GET ${path} HTTP/1.1\r\n${headers}Host: ${authority}\r\n\r\n`;
    this.#socket = options.createConnection(options);
    this.#socket.on("data", this.#onData).on("error", this.#onError).on("close", this.#onClose);
  }

  end(): void {
    this.#socket.write(this.#head);
  }

  destroy(error?: Error): void {
    (this.#delegate ?? this.#socket).destroy(error);
  }

  abort(): void {
    this.destroy();
  }

  setHeader(): never {
    throw new Error("the request has been sent");
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#received = Buffer.concat([this.#received, bytes]);
    const text = this.#received.toString("latin1");
    const end = text.indexOf(HEAD_END);
    const head = end === -1 ? text : text.slice(0, end);
    const isUpgrade = RESPONSE_START.startsWith(head.slice(0, RESPONSE_START.length)) && !/(?<!\r)\n/.test(head);
    const isOrdinary = isUpgrade && head.length + HEAD_END.length <= MAX_HEAD_BYTES;
    if (isOrdinary && end === -1) return;
    const socket = this.#socket;
    socket.off("data", this.#onData).off("error", this.#onError).off("close", this.#onClose);
    const headers = isOrdinary ? parseUpgrade(head) : undefined;
    if (headers === undefined) this.#leaveToNode();
    else this.emit("upgrade", { headers, socket }, socket, this.#received.subarray(end + HEAD_END.length));
  };

  readonly #onError = (error: Error): void => {
    this.emit("error", error);
  };

  readonly #onClose = (hasFailed: boolean): void => {
    if (!hasFailed) this.emit("error", Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    this.emit("close");
  };

  /** To `node:http` it is the response to a request of its own, which is not sent. */
  #leaveToNode(): void {
    const socket = this.#socket;
    const connection = new Duplex({
      allowHalfOpen: false,
      read: () => void socket.resume(),
      write: (_chunk, _encoding, done) => done(),
      destroy: (error, done) => {
        socket.destroy();
        done(error);
      },
    });
    socket.on("data", (chunk) => connection.push(chunk) || socket.pause());
    socket.on("end", () => connection.push(null)).on("error", (error) => connection.destroy(error));
    connection.push(this.#received);
    const { host, port, path } = this.#options;
    this.#delegate = nodeRequest({ host, port, path, createConnection: () => connection });
    this.#delegate
      .on("response", (response) => this.emit("response", response))
      .on("upgrade", (_response, upgraded) => {
        upgraded.destroy();
        this.#onError(new Error("the server's upgrade response cannot be read"));
      })
      .on("error", this.#onError)
      .on("close", () => this.emit("close"))
      .end();
  }
}

/** The headers of an upgrade, repeated ones joined with commas; undefined for any other response. */
function parseUpgrade(head: string): Record<string, string> | undefined {
  const [status, ...lines] = head.split(LINE_END);
  if (!STATUS_LINE.test(status!)) return undefined;
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const match = RESPONSE_LINE.exec(line);
    if (match === null) return undefined;
    const [name, value] = [match[1]!.toLowerCase(), match[2]!.trimEnd()];
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return CONNECTION_UPGRADE.test(headers.connection ?? "") ? headers : undefined;
}
