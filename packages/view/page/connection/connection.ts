import { decodeFrame } from "../../src/wire/frame.ts";
import type { PageMessage, ServerMessage } from "../../src/wire/messages.ts";
import { PAGE_PROTOCOL } from "../../src/wire/protocol.ts";

/** Events of the connection. */
export interface ConnectionEvents {
  message(message: ServerMessage): void;
  output(session: number, offset: number, bytes: Uint8Array): void;
  state(state: "connected" | "connecting" | "ended" | "refused"): void;
}

/** Where the key of this page is stored: by origin, so that pages at other ports of this host have none. */
const KEY = "key";

/** Redeems the token of the link, if there is one, and clears it. False if this browser is not admitted. */
export async function enter(): Promise<boolean> {
  const token = location.hash.slice(1);
  if (token !== "") {
    history.replaceState(null, "", location.pathname);
    const response = await fetch("enter", { method: "POST", body: token });
    if (response.ok) localStorage.setItem(KEY, (await response.text()).trim());
  }
  // This browser may have redeemed the link before.
  return localStorage.getItem(KEY) !== null && (await fetchWithKey("me")).ok;
}

/** Requests what only admitted pages get. */
export const fetchWithKey = (path: string): Promise<Response> =>
  fetch(path, { headers: { authorization: `Bearer ${localStorage.getItem(KEY)}` } });

/** A websocket that reconnects as long as the server is there. */
export class Connection {
  readonly #events: ConnectionEvents;
  #socket: WebSocket | undefined;
  #attempts = 0;

  constructor(events: ConnectionEvents) {
    this.#events = events;
  }

  open(): void {
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`;
    const socket = new WebSocket(address, [PAGE_PROTOCOL, localStorage.getItem(KEY) ?? "none"]);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#events.state("connecting");
    socket.addEventListener("open", () => {
      this.#attempts = 0;
      this.#events.state("connected");
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") return this.#events.message(JSON.parse(data) as ServerMessage); // sent by our own server
      const { session, offset, bytes } = decodeFrame(data as ArrayBuffer); // `binaryType` is "arraybuffer"
      this.#events.output(session, offset, bytes);
    });
    socket.addEventListener("close", () => void this.#again());
  }

  send(message: PageMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  async #again(): Promise<void> {
    this.#attempts += 1;
    if (this.#attempts > MAX_ATTEMPTS) return this.#events.state("ended");
    this.#events.state("connecting");
    await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 100 * 2 ** this.#attempts)));
    const status = await fetchWithKey("me").then(
      ({ status }) => status,
      () => 0,
    );
    if (status === 401 || status === 403) return this.#events.state("refused");
    this.open();
  }
}

const MAX_ATTEMPTS = 6;
