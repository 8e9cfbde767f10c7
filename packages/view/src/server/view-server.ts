import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { boundUnadmitted, type Unadmitted } from "@codex/channel";
import { WebSocketServer } from "ws";
import { LEAVE_MS, MAX_BODY_BYTES, MAX_PAGE_MESSAGE_BYTES, MAX_RECORDINGS, MAX_VIEWERS } from "../limits.js";
import type { Rights } from "../wire/messages.js";
import type { FromServer, ServerOptions, ToServer } from "../wire/port.js";
import {
  Access,
  createPlace,
  createSecret,
  findForeign,
  hashSecret,
  type Place,
  readHalves,
  writeCookie,
} from "./access.js";
import { type Asset, loadAssets, SECURITY_HEADERS } from "./assets.js";
import { Hub } from "./hub.js";
import { Viewer } from "./viewer.js";

/** Serves the page and its websockets. Everything shown arrives through `receive`. */
export class ViewServer {
  readonly #options: ServerOptions;
  readonly #post: (message: FromServer) => void;
  readonly #access: Access;
  readonly #hub: Hub;
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #viewers = new Map<Viewer, () => void>();
  /** Recordings that are made or sent; a response that was closed meanwhile is undefined until the recording is answered. */
  readonly #recordings = new Map<number, ServerResponse | undefined>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_PAGE_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #server;
  readonly #unadmitted: Unadmitted;
  #place: Place;
  #port = 0;
  #requests = 0;

  constructor(options: ServerOptions, post: (message: FromServer) => void) {
    this.#options = options;
    this.#post = post;
    this.#access = new Access(options.tokens, options.admitted);
    this.#hub = new Hub(post);
    this.#assets = loadAssets(options.files);
    this.#place = createPlace(0, [], false);
    const { tls } = options;
    const limits = {
      maxHeaderSize: 8 * 1024,
      requestTimeout: 10_000,
      headersTimeout: 5_000,
      connectionsCheckingInterval: 5_000,
    };
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    this.#server =
      tls === undefined ? createPlainServer(limits, serve) : createSecureServer({ ...limits, ...tls }, serve);
    this.#server.maxConnections = MAX_VIEWERS * 4;
    this.#unadmitted = boundUnadmitted(this.#server, { most: MAX_VIEWERS });
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  listen(): void {
    const { host, port, names, tls } = this.#options;
    this.#server.once("error", (error) => this.#post({ type: "failed", message: error.message }));
    this.#server.listen(port, host, () => {
      // The server listens on TCP.
      this.#port = (this.#server.address() as AddressInfo).port;
      this.#place = createPlace(this.#port, names, tls !== undefined);
      this.#post({ type: "listening", port: this.#port });
    });
  }

  receive(message: ToServer): void {
    switch (message.type) {
      case "set":
        return this.#hub.set(message.entities);
      case "drop":
        return this.#hub.drop(message.keys);
      case "token":
        return this.#access.add(message.token);
      case "output":
        return this.#hub.answered(message.request, message.part);
      case "recording":
        return this.#sendRecording(message.request, message.text);
      case "notice":
        for (const viewer of this.#viewers.keys()) {
          if (viewer.admission.viewer === message.viewer) viewer.notify(message.text, message.isProblem);
        }
        return;
      case "close":
        return this.#close();
    }
  }

  #close(): void {
    this.#server.close(() => this.#post({ type: "closed" }));
    this.#server.closeIdleConnections();
    for (const viewer of this.#viewers.keys()) viewer.end();
    // Some pages may not be reading.
    setTimeout(() => {
      for (const leave of this.#viewers.values()) leave();
      this.#server.closeAllConnections();
    }, LEAVE_MS).unref();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", headers } = request;
    const path = (request.url ?? "/").split("?", 1)[0]!;
    const foreign = findForeign(headers, this.#place, method !== "GET" && method !== "HEAD");
    if (foreign !== undefined) return end(response, 403, foreign);
    if (method === "POST" && path === "/enter") return this.#enter(request, response);
    if (method !== "GET" && method !== "HEAD") return end(response, 405, "only GET and HEAD");
    const asset = this.#assets.get(path);
    if (asset !== undefined) return sendAsset(asset, request, response);
    if (this.#admissionOf(request) === undefined) return end(response, 401, "a link is needed, and each counts once");
    if (path === "/me") return end(response, 204);
    const session = /^\/recording\/(\d{1,9})$/.exec(path)?.[1];
    if (session === undefined) return end(response, 404, "there is nothing here");
    if (this.#recordings.size >= MAX_RECORDINGS) {
      return end(response, 503, `${MAX_RECORDINGS} recordings are being sent (limit): try again`);
    }
    this.#requests += 1;
    const id = this.#requests;
    this.#recordings.set(id, response);
    response.once("close", () => this.#endRecording(id, response));
    this.#post({ type: "recording", request: id, session: Number(session) });
  }

  async #enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === undefined) return end(response, 413, `more than ${MAX_BODY_BYTES} bytes`);
    const admitted = this.#access.admit(body);
    if (admitted === undefined) return end(response, 401, "this link was used, or is not one");
    const { halves, admission, tokenHash } = admitted;
    this.#unadmitted.admit(request.socket);
    this.#post({ type: "admitted", admission, tokenHash });
    response.setHeader("set-cookie", writeCookie(this.#port, halves.cookie, this.#options.tls !== undefined));
    end(response, 200, halves.page);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refuse = (status: string) => void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.on("error", () => socket.destroy());
    if (findForeign(request.headers, this.#place, true) !== undefined) return refuse("403 Forbidden");
    const admission = this.#admissionOf(request);
    if (admission === undefined) return refuse("401 Unauthorized");
    if (request.url !== "/live") return refuse("404 Not Found");
    if (this.#viewers.size >= MAX_VIEWERS) return refuse("503 Service Unavailable");
    this.#sockets.handleUpgrade(request, socket, head, (page) => {
      const viewer = new Viewer(page, admission, this.#hub, {
        act: (name, action) => this.#post({ type: "action", viewer: name, action }),
        createLink: (rights) => this.#createLink(rights, request.headers.host!),
        pages: () => Math.max(1, this.#viewers.size),
      });
      this.#viewers.set(viewer, () => page.terminate());
      this.#post({ type: "viewers", count: this.#viewers.size });
      page.once("close", () => {
        this.#viewers.delete(viewer);
        this.#post({ type: "viewers", count: this.#viewers.size });
      });
    });
  }

  #createLink(rights: Rights, host: string): string {
    const secret = createSecret();
    const token = { hash: hashSecret(secret), rights };
    this.#access.add(token);
    this.#post({ type: "token", token });
    return `${this.#place.scheme}://${host}/#${secret}`;
  }

  #admissionOf({ headers, socket }: IncomingMessage) {
    const admission = this.#access.find(readHalves(headers, this.#port));
    if (admission !== undefined) this.#unadmitted.admit(socket);
    return admission;
  }

  /** A page that leaves early gives up its place only when the recording is not made any more. */
  #endRecording(request: number, { headersSent }: ServerResponse): void {
    if (headersSent) return void this.#recordings.delete(request);
    this.#recordings.set(request, undefined);
    this.#post({ type: "cancel_recording", request });
  }

  #sendRecording(request: number, text: string | undefined): void {
    const response = this.#recordings.get(request);
    if (response === undefined) return void this.#recordings.delete(request);
    if (text === undefined) return end(response, 404, "there is no such recording");
    response.writeHead(200, { ...SECURITY_HEADERS, "content-type": "text/plain; charset=utf-8" });
    response.end(text);
  }
}

function sendAsset(asset: Asset, request: IncomingMessage, response: ServerResponse): void {
  const packed = /\bgzip\b/.test(String(request.headers["accept-encoding"])) ? asset.gzip() : undefined;
  const body = packed ?? asset.body;
  const encoding = packed === undefined ? {} : { "content-encoding": "gzip" };
  response.writeHead(200, { ...asset.headers, ...encoding, "content-length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
}

function end(response: ServerResponse, status: number, text?: string): void {
  response.writeHead(status, { ...SECURITY_HEADERS, "content-type": "text/plain; charset=utf-8" });
  response.end(text === undefined ? undefined : `${text}\n`);
}

/** Undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MAX_BODY_BYTES) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(parts).toString("utf8");
}
