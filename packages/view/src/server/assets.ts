import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** A file of the page, ready to be sent. */
export interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The compressed file; undefined if it would not be smaller. */
  gzip(): Buffer | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const BASE = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self' 'unsafe-inline'",
  "connect-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self' data:",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

const renderPolicy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");

/** Headers of every response, including errors. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": renderPolicy(BASE),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** The replay page alone may compile WebAssembly: its player requires that. */
const PLAYER_POLICY = renderPolicy({ ...BASE, "script-src": "'self' 'wasm-unsafe-eval'" });

/** The files of a directory by URL path; `index.html` is `/`, `replay.html` is `/replay`. */
export function loadAssets(directory: string): ReadonlyMap<string, Asset> {
  const names = readdirSync(directory).filter((name) => extname(name) in TYPES);
  return new Map(names.map((name) => [pathOf(name), loadAsset(directory, name)]));
}

const pathOf = (name: string): string =>
  name === "index.html" ? "/" : `/${name.endsWith(".html") ? name.slice(0, -".html".length) : name}`;

function loadAsset(directory: string, name: string): Asset {
  const body = readFileSync(join(directory, name));
  const policy = name === "replay.html" ? { "content-security-policy": PLAYER_POLICY } : {};
  const headers = { ...SECURITY_HEADERS, ...policy, "content-type": TYPES[extname(name)]! };
  let packed: Buffer | undefined;
  return {
    headers,
    body,
    gzip() {
      packed ??= gzipSync(body);
      return packed.length < body.length ? packed : undefined;
    },
  };
}
