import { type ClientRequest, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { type HttpProxy, portOf } from "./find-proxy.js";
import { MAX_CONNECT_MS } from "./limits.js";

/** Returns a function that sends requests without TLS through a proxy. */
export async function createProxySend({
  url: proxy,
}: HttpProxy): Promise<(options: object, url: string) => ClientRequest> {
  const send = await requester(proxy);
  return (options, target) => {
    const { headers } = options as { headers?: Record<string, string> }; // a plain record, as passed by callers
    const own = { ...headers, host: new URL(target).host, ...authorization(proxy) };
    return send({ ...options, ...addressOf(proxy), path: target, headers: own });
  };
}

/** Opens a tunnel through a proxy, to a host and port. @throws Error naming the proxy */
export async function openTunnel(
  { url: proxy, name }: HttpProxy,
  host: string,
  port: string | number,
): Promise<Socket> {
  const send = await requester(proxy);
  const path = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const headers = { host: path, ...authorization(proxy) };
    const sent = send({ ...addressOf(proxy), method: "CONNECT", path, headers, agent: false, timeout: MAX_CONNECT_MS });
    const fail = (reason: string) => sent.destroy(new Error(`the proxy ${name} ${reason}`));
    sent.once("timeout", () => fail(`opened no tunnel within ${MAX_CONNECT_MS} ms`));
    sent.once("response", ({ statusCode }) => fail(`answered ${statusCode}`));
    sent.once("connect", ({ statusCode }, socket, head) => {
      if (statusCode !== 200 || head.length > 0) return fail(`answered ${statusCode}`);
      socket.setTimeout(0);
      resolve(socket as Socket); // of `node:net` or `node:tls`
    });
    sent.once("error", reject);
    sent.end();
  });
}

type Request = typeof httpRequest;

const requester = async ({ protocol }: URL): Promise<(options: object) => ClientRequest> =>
  protocol === "https:" ? ((await import("node:https")).request as Request) : httpRequest;

const addressOf = (proxy: URL) => ({ host: proxy.hostname.replace(/^\[|\]$/g, ""), port: portOf(proxy) });

function authorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
