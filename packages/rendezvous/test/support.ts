import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { decodeFrame, encodeFrame, type FrameBody, type RelayFrame } from "@codex/relay";
import { createRegistry } from "@codex/telemetry";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { listenRendezvous } from "../src/listen.js";
import { Rendezvous, type RendezvousOptions } from "../src/rendezvous.js";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Members of the JSON; empty for anything else. */
  body: Record<string, string> & { error?: { code: string; message: string }; valid?: boolean; reason?: string };
}

/** A rendezvous on loopback for one test. */
export async function startRendezvous(options: RendezvousOptions = {}) {
  const metrics = createRegistry();
  const rendezvous = new Rendezvous({ telemetry: { metrics }, ...options });
  const listener = await listenRendezvous(rendezvous);
  onTestFinished(() => listener.close());
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(listener.url, { method: "POST", path, body: typeof body === "string" ? body : JSON.stringify(body), headers });
  /** The value of a metric, all its labels summed up unless one is given. */
  const count = (name: string, label?: string): number =>
    metrics
      .list()
      .filter((family) => family.name === `codex_rendezvous_${name}`)
      .flatMap((family) => family.metrics)
      .filter((metric) => label === undefined || Object.values(metric.labels).includes(label))
      .reduce((sum, metric) => sum + (metric.type === "histogram" ? 0 : metric.read()), 0);
  return { rendezvous, listener, url: listener.url, post, count };
}

export type Started = Awaited<ReturnType<typeof startRendezvous>>;

/** Sends one request, its path as it is given. */
export async function send(
  url: string,
  {
    method = "GET",
    path,
    body = "",
    headers = {},
  }: { method?: string; path: string; body?: string; headers?: Record<string, string> },
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const request = httpRequest({ hostname, port, path, method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const answer = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body: parse(answer) };
}

function parse(answer: string): Answer["body"] {
  try {
    return JSON.parse(answer) as Answer["body"];
  } catch {
    return {};
  }
}

/** A public key of the right shape. */
export const makeKey = () => ({
  suite: "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256",
  x25519_public_key: randomBytes(32).toString("base64"),
  mlkem768_public_key: randomBytes(1184).toString("base64"),
});

export const registerBody = (key = makeKey()) => ({ security_profile: "noise_hybrid_ik_v1", executor_public_key: key });

/** One end of a websocket that keeps what comes. */
export class End {
  readonly socket: WebSocket;
  readonly #messages: { bytes: Buffer; isBinary: boolean }[] = [];
  #wake = () => {};
  /** Close code, once closed. */
  readonly closed: Promise<number>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("message", (data: Buffer, isBinary) => {
      this.#messages.push({ bytes: data, isBinary });
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      socket.once("close", (code) => {
        resolve(code);
        this.#wake();
      }),
    );
  }

  send(streamId: string, body: FrameBody): void {
    this.socket.send(encodeFrame({ streamId, body }));
  }

  data(streamId: string, payload: string | Uint8Array, seq = 0): void {
    this.send(streamId, { kind: "data", seq, payload: Buffer.from(payload) });
  }

  /** The next message; rejects when the connection is closed before one comes. */
  async next(): Promise<{ bytes: Buffer; isBinary: boolean }> {
    while (this.#messages.length === 0) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error("closed before a message came");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#messages.shift()!;
  }

  /** The next message as a frame. */
  async nextFrame(): Promise<RelayFrame> {
    const decoded = decodeFrame((await this.next()).bytes);
    if (!decoded.ok) throw new Error(decoded.problem);
    return decoded.frame;
  }

  /** The payload of the next frame, as text. */
  async nextText(): Promise<string> {
    const { body } = await this.nextFrame();
    return "payload" in body ? Buffer.from(body.payload).toString() : body.kind;
  }

  get waiting(): number {
    return this.#messages.length;
  }
}

/** Opens a websocket, which ends with the test. @throws Error with the status of a refusal */
export async function dial(url: string, options: ClientOptions = {}): Promise<End> {
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options });
  onTestFinished(() => socket.terminate());
  const end = new End(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("unexpected-response", (_request, response) => {
      const reason = response.headers["x-codex-rendezvous-rejection-reason"];
      reject(new Error(`${response.statusCode} ${reason}`));
      socket.terminate();
    });
    socket.once("error", reject);
  });
  return end;
}

/** An executor with Noise that has connected. */
export async function startExecutor({ post }: Started, environment = "env-1", headers: Record<string, string> = {}) {
  const key = makeKey();
  const { status, body } = await post(`/cloud/environment/${environment}/register`, registerBody(key), headers);
  if (status !== 200) throw new Error(`register: ${status} ${body.error?.code}`);
  return { key, registrationId: body.executor_registration_id!, url: body.url!, end: await dial(body.url!) };
}

/** A harness that has asked to connect. */
export async function connect({ post }: Started, environment = "env-1", headers: Record<string, string> = {}) {
  const key = makeKey();
  const { status, body } = await post(
    `/cloud/environment/${environment}/connect`,
    { harness_public_key: key },
    headers,
  );
  if (status !== 200) throw new Error(`connect: ${status} ${body.error?.code}`);
  return { key, ...body, url: body.url!, authorization: body.harness_key_authorization! };
}

/** A harness that has connected. */
export const startHarness = async (started: Started, environment = "env-1"): Promise<End> =>
  dial((await connect(started, environment)).url);

/** Waits until something is so; it is looked at whenever the event loop has turned. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
