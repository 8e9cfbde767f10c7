import { createHash, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Publisher } from "./live/board.js";
import { ServerThread } from "./server-thread.js";
import { ViewerCount } from "./viewer-count.js";
import type { Rights } from "./wire/messages.js";
import type { FromServer, ToServer } from "./wire/port.js";

/** Where and for whom a view is served. */
export interface ServeOptions {
  /** 0, the default: any port that is free. */
  readonly port?: number;
  /** Address to listen at; default `127.0.0.1`. Beyond loopback only with `tls`. */
  readonly host?: string;
  /** Certificate chain and private key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Further names by which browsers reach it, as in a URL without the port. */
  readonly names?: readonly string[];
  /** Nobody may answer or type, whatever link they have. */
  readonly readOnly?: boolean;
  /** The server of the view has failed for good; everything else goes on. */
  readonly onProblem?: (problem: string) => void;
}

/** A view that is served. */
export interface ServedView {
  /** Link that may answer and type. It can be used once; the page makes further ones. */
  readonly url: string;
  /** Link that only shows. It can be used once. */
  readonly readOnlyUrl: string;
  /** Another link that can be used once. */
  createLink(rights: Rights): string;
  /** Pages that are connected. */
  readonly viewers: number;
  /** Resolves once no page is connected, or the signal aborts. `afterFirst`: not before there was one. Keeps the process alive. */
  untilLeft(signal: AbortSignal, options?: { afterFirst?: boolean }): Promise<void>;
  /** Resolves when all pages are disconnected and the port is free. Idempotent. */
  close(): Promise<void>;
}

/** What is shown: it publishes entities, and answers the server. */
export interface ViewSource {
  start(): void;
  receive(message: FromServer): void;
  /** The server knows nothing any more: publish everything again. */
  restarted(): void;
  /** Idempotent. */
  close(): void;
}

/** Where a source sends to. */
export interface ViewSink {
  readonly publisher: Publisher;
  send(message: ToServer): void;
  /** Keeps the process alive. Returns a function that does not any more. */
  hold(): () => void;
}

/** Serves what a source shows. @throws Error naming the address or the option */
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

/** The name in links. */
function showHost(host: string, names: readonly string[]): string {
  const name = names[0] ?? host;
  return isIP(name) === 6 ? `[${name}]` : name;
}
