import { createHash, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Publisher } from "./live/board.js";
import { ServerThread } from "./server-thread.js";
import { ViewerCount } from "./viewer-count.js";
import type { Rights } from "./wire/messages.js";
import type { FromServer, ToServer } from "./wire/port.js";

/** Options of a served view. */
export interface ServeOptions {
  /** 0 for a free port, which is the default. */
  readonly port?: number;
  /** IP address to bind; default `127.0.0.1`. An address beyond loopback requires `tls`. */
  readonly host?: string;
  /** Certificate chain and private key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Further host names by which browsers reach it, without the port. */
  readonly names?: readonly string[];
  /** No link permits answering or typing. */
  readonly readOnly?: boolean;
  /** Called when the server of the view has failed permanently; nothing else is affected. */
  readonly onProblem?: (problem: string) => void;
}

/** A served view. */
export interface ServedView {
  /** Link that permits answering and typing. Valid once; the page can create further ones. */
  readonly url: string;
  /** Read-only link. Valid once. */
  readonly readOnlyUrl: string;
  /** Creates another link, valid once. */
  createLink(rights: Rights): string;
  /** Number of connected pages. */
  readonly viewers: number;
  /** Resolves when no page is connected, or the signal aborts. `afterFirst`: waits for the first page before. Keeps the process alive. */
  untilLeft(signal: AbortSignal, options?: { afterFirst?: boolean }): Promise<void>;
  /** Resolves when all pages are disconnected and the port is free. Idempotent. */
  close(): Promise<void>;
}

/** Provides the content of a view: publishes entities, and responds to the server. */
export interface ViewSource {
  start(): void;
  receive(message: FromServer): void;
  /** The server was restarted without state: publish everything again. */
  restarted(): void;
  /** Idempotent. */
  close(): void;
}

/** The receiver of a source. */
export interface ViewSink {
  readonly publisher: Publisher;
  send(message: ToServer): void;
  /** Keeps the process alive until the returned function is called. */
  hold(): () => void;
}

/** Serves a source. @throws Error naming the address or the option */
export async function serveView(
  createSource: (sink: ViewSink) => ViewSource,
  options: ServeOptions,
): Promise<ServedView> {
  const { port = 0, host = "127.0.0.1", tls, names = [], readOnly = false } = options;
  if (!isLoopback(host) && tls === undefined) {
    throw new Error(`a view at ${JSON.stringify(host)} can be reached from other hosts: it needs TLS (tls)`);
  }
  const viewers = new ViewerCount();
  const source = createSource({
    publisher: {
      set: (entities) => server.send({ type: "set", entities }),
      drop: (keys) => server.send({ type: "drop", keys }),
    },
    send: (message) => server.send(message),
    hold: () => server.hold(),
  });
  const server: ServerThread = new ServerThread(
    { host, port, tls, names },
    {
      receive(message) {
        if (message.type === "viewers") viewers.set(message.count);
        source.receive(message);
      },
      restarted() {
        viewers.set(0);
        source.restarted();
      },
      failed(problem) {
        viewers.set(0);
        source.close();
        options.onProblem?.(`the view has ended: ${problem}`);
      },
    },
  );
  let listeningAt: number;
  try {
    listeningAt = await server.start();
  } catch (error) {
    source.close();
    throw error;
  }
  const place = `${tls === undefined ? "http" : "https"}://${showHost(host, names)}:${listeningAt}`;
  const createLink = (rights: Rights): string => {
    const secret = randomBytes(32).toString("base64url");
    const allowed = readOnly ? "read" : rights;
    server.addToken({ hash: createHash("sha256").update(secret).digest("hex"), rights: allowed });
    return `${place}/#${secret}`;
  };
  source.start();
  return {
    url: createLink("answer"),
    readOnlyUrl: createLink("read"),
    createLink,
    get viewers() {
      return viewers.count;
    },
    async untilLeft(signal, given) {
      const release = server.hold();
      await viewers.untilNone(signal, given);
      release();
    },
    async close() {
      source.close();
      await server.close();
    },
  };
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);

/** The host name in links. */
function showHost(host: string, names: readonly string[]): string {
  const name = names[0] ?? host;
  return isIP(name) === 6 ? `[${name}]` : name;
}
