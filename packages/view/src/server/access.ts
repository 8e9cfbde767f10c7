import { createHash, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { addAdmission, addToken } from "../wire/bounded.js";
import type { Admission, Token } from "../wire/port.js";
import { PAGE_PROTOCOL } from "../wire/protocol.js";

/** 256 random bits, for a link or one half of a key. */
export const createSecret = (): string => randomBytes(32).toString("base64url");

/** SHA-256, hex. Secrets are stored and compared only as hashes. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Decides who may open the page: a token is valid once, the key it is exchanged for until the view ends. */
export class Access {
  readonly #tokens = new Map<string, Token>();
  readonly #admitted = new Map<string, Admission>();
  #viewers = 0;

  constructor(tokens: readonly Token[], admitted: readonly Admission[]) {
    for (const token of tokens) this.add(token);
    for (const admission of admitted) this.#keep(admission);
  }

  add(token: Token): void {
    addToken(this.#tokens, token);
  }

  /** Redeems a token. Undefined if it is unknown or was redeemed before. */
  admit(token: string): { halves: Halves; admission: Admission; tokenHash: string } | undefined {
    const tokenHash = hashSecret(token);
    const found = this.#tokens.get(tokenHash);
    if (found === undefined) return undefined;
    this.#tokens.delete(tokenHash);
    const halves = { page: createSecret(), cookie: createSecret() };
    const admission = { hash: hashHalves(halves), rights: found.rights, viewer: `viewer ${this.#viewers + 1}` };
    this.#keep(admission);
    return { halves, admission, tokenHash };
  }

  /** The viewer to whom both halves of a key belong. */
  find(halves: Halves | undefined): Admission | undefined {
    return halves === undefined ? undefined : this.#admitted.get(hashHalves(halves));
  }

  #keep(admission: Admission): void {
    this.#viewers += 1;
    addAdmission(this.#admitted, admission);
  }
}

/**
 * The key of a viewer, of which no half suffices. The page's scripts keep one in the storage of its origin, which no other port
 * gets, and the browser keeps the other as a cookie, which no script and nobody who reads that storage gets.
 */
interface Halves {
  page: string;
  cookie: string;
}

const hashHalves = ({ page, cookie }: Halves): string => hashSecret(`${page} ${cookie}`);

/**
 * Both halves of a request: the page sends its own as a bearer token, or with a websocket, where scripts can set no header, as
 * the second subprotocol.
 */
export function readHalves(headers: IncomingHttpHeaders, port: number): Halves | undefined {
  const [protocol, key] = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const page = protocol === PAGE_PROTOCOL ? key : /^Bearer ([\w-]+)$/.exec(headers.authorization ?? "")?.[1];
  const name = `${cookieName(port)}=`;
  const cookie = headers.cookie?.split("; ").find((each) => each.startsWith(name));
  return page === undefined || cookie === undefined ? undefined : { page, cookie: cookie.slice(name.length) };
}

/** The value of a `Set-Cookie` header, until the browser ends. Other sites cannot send it. */
export const writeCookie = (port: number, value: string, isSecure: boolean): string =>
  `${cookieName(port)}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;

/** Browsers share cookies between all ports of a host. */
const cookieName = (port: number): string => `codex_view_${port}`;

/** Rules for the headers `Host` and `Origin`. */
export interface Place {
  /** Accepted values of `Host`. */
  readonly hosts: ReadonlySet<string>;
  readonly scheme: "http" | "https";
}

/** @param names accepted in addition to loopback names, without the port */
export function createPlace(port: number, names: readonly string[], isSecure: boolean): Place {
  const defaultPort = isSecure ? 443 : 80;
  const hosts = ["127.0.0.1", "localhost", "[::1]", ...names].flatMap((name) =>
    port === defaultPort ? [name, `${name}:${port}`] : [`${name}:${port}`],
  );
  return { hosts: new Set(hosts.map((host) => host.toLowerCase())), scheme: isSecure ? "https" : "http" };
}

/** Why a request is refused: another name of this host (DNS rebinding), or a page of another site. */
export function findForeign(
  { host, origin }: { host?: string | undefined; origin?: string | undefined },
  { hosts, scheme }: Place,
  needsOrigin: boolean,
): string | undefined {
  const name = host?.toLowerCase();
  if (name === undefined || !hosts.has(name)) return "the header Host names another host";
  if (origin === undefined) return needsOrigin ? "the header Origin is missing" : undefined;
  return origin.toLowerCase() === `${scheme}://${name}` ? undefined : "the header Origin names another site";
}
