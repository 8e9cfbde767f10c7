import { createHash, randomBytes } from "node:crypto";
import { addAdmission, addToken } from "../wire/bounded.js";
import type { Admission, Token } from "../wire/port.js";

/** 256 random bits, for a link or a cookie. */
export const createSecret = (): string => randomBytes(32).toString("base64url");

/** SHA-256, hex. Secrets are stored and compared only as hashes. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Decides who may open the page: a token is valid once, the cookie it is exchanged for until the view ends. */
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
  admit(token: string): { cookie: string; admission: Admission; tokenHash: string } | undefined {
    const tokenHash = hashSecret(token);
    const found = this.#tokens.get(tokenHash);
    if (found === undefined) return undefined;
    this.#tokens.delete(tokenHash);
    const cookie = createSecret();
    const admission = { hash: hashSecret(cookie), rights: found.rights, viewer: `viewer ${this.#viewers + 1}` };
    this.#keep(admission);
    return { cookie, admission, tokenHash };
  }

  /** The viewer to whom a cookie belongs. */
  find(cookie: string | undefined): Admission | undefined {
    return cookie === undefined ? undefined : this.#admitted.get(hashSecret(cookie));
  }

  #keep(admission: Admission): void {
    this.#viewers += 1;
    addAdmission(this.#admitted, admission);
  }
}

/** Browsers share cookies between all ports of a host, so the name includes the port. */
export const cookieName = (port: number): string => `codex_view_${port}`;

/** The value of one cookie of a `Cookie` header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name && value !== undefined) return value;
  }
  return undefined;
}

/** The value of a `Set-Cookie` header. Scripts cannot read it, and other sites cannot send it. */
export const writeCookie = (name: string, value: string, isSecure: boolean): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;

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
