import { request } from "node:http";
import { WebSocket } from "ws";

/** The response to a request whose headers a browser would not let a script set. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export function send(
  url: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() }),
      );
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** The address of a link, and its token. */
export function partsOf(link: string): { base: string; token: string } {
  const { origin, hash } = new URL(link);
  return { base: origin, token: hash.slice(1) };
}

/** Uses a link as the page does: both halves of its key, and the headers that come with requests and with the websocket. */
export async function enter(link: string) {
  const { base, token } = partsOf(link);
  const entered = await send(`${base}/enter`, { method: "POST", headers: { origin: base }, body: token });
  if (entered.status !== 200) throw new Error(`not let in: ${entered.status}`);
  return { base, ...headersOf(entered) };
}

/** The headers with which a page sends its half of the key, and its browser the other. */
export function headersOf({ body, headers }: Pick<RawResponse, "body" | "headers">) {
  const key = body.trim();
  const cookie = String(headers["set-cookie"]).split(";")[0]!;
  return {
    key,
    cookie,
    bearer: { authorization: `Bearer ${key}`, cookie },
    protocol: { "sec-websocket-protocol": `codex-view, ${key}`, cookie },
  };
}

/** The status with which a websocket is refused; 101 when it is opened, and closed again. */
export function upgradeStatus(base: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const { "sec-websocket-protocol": protocols, ...others } = headers;
    const socket = new WebSocket(`${base.replace("http", "ws")}/live`, protocols?.split(", ") ?? [], {
      headers: others,
    });
    socket.once("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on("error", () => {});
  });
}
