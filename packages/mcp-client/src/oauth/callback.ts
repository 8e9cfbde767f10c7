import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "@codex/values";
import { MAX_CALLBACK_LENGTH } from "../limits.js";

/** What an authorization server sends back with the browser. */
interface CallbackAnswer {
  code: string;
  iss: string | undefined;
}

/** Waits for the browser of a person who logs in. */
export interface Callback {
  /** Where the browser is sent after the login. */
  url: string;
  /** In the URL that the browser comes back with; anything without it is not the answer. */
  state: string;
  /** Rejects when the authorization server refuses. */
  answer: Promise<CallbackAnswer>;
  /** Takes a URL that the person has copied. @throws Error if it is not the answer */
  accept(url: string): void;
  close(): void;
}

/** Listens on 127.0.0.1. @param port default any */
export async function listenForCallback({ port = 0 }: { port?: number | undefined } = {}): Promise<Callback> {
  const state = randomBytes(32).toString("base64url");
  const path = `/callback/${randomBytes(9).toString("base64url")}`;
  let resolve: (answer: CallbackAnswer) => void = () => {};
  let reject: (reason: Error) => void = () => {};
  const answer = new Promise<CallbackAnswer>((...settle) => {
    [resolve, reject] = settle;
  });
  // Reported where it is awaited.
  answer.catch(() => {});

  function accept(query: URLSearchParams): void {
    if (!isEqual(query.get("state") ?? "", state)) throw new Error("the URL is not the answer to this login");
    const code = query.get("code");
    if (code !== null) return resolve({ code, iss: query.get("iss") ?? undefined });
    const error = query.get("error") ?? "no code";
    const description = query.get("error_description");
    reject(new Error(`the authorization server refused: ${error}${description === null ? "" : `, ${description}`}`));
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const say = (status: number, text: string) =>
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${text}\n`);
    if (pathname !== path || request.method !== "GET") return void say(404, "There is nothing here.");
    try {
      accept(searchParams);
      say(200, searchParams.has("code") ? "You are logged in. You may close this window." : "The login was refused.");
    } catch (error) {
      say(400, messageOf(error));
    }
  });
  await new Promise<void>((started, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", started);
  });
  // A TCP server has such an address.
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${chosen}${path}`,
    state,
    answer,
    accept(text) {
      if (text.length > MAX_CALLBACK_LENGTH || !URL.canParse(text)) throw new Error("that is not a URL");
      accept(new URL(text).searchParams);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
