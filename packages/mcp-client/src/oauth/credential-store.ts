import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { withFileLock } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import { defined, messageOf } from "@codex/values";
import * as z from "zod/mini";
import { MAX_CREDENTIALS_BYTES, REFRESH_LOCK_MS } from "../limits.js";

/** The server that credentials are for: a server of another address never gets them, whatever its name. */
export interface OAuthServer {
  name: string;
  url: string;
}

/** What a login came to. */
export interface Credentials {
  /** The authorization server that issued them; undefined in old files. */
  issuer: string | undefined;
  clientId: string;
  clientSecret: string | undefined;
  accessToken: string;
  refreshToken: string | undefined;
  /** Milliseconds since 1970; undefined: not told. */
  expiresAt: number | undefined;
  scopes: readonly string[];
}

/** Where credentials are kept. Errors name the file, never what is in it. */
export interface CredentialStore {
  read(server: OAuthServer): Promise<Credentials | undefined>;
  /** Replaces those of a server; undefined removes them. */
  write(server: OAuthServer, credentials: Credentials | undefined): Promise<void>;
  /** Runs `body` while no other process with this store does so for this server. */
  alone<T>(server: OAuthServer, body: () => Promise<T>): Promise<T>;
}

const entrySchema = z.looseObject({
  server_name: z.string(),
  server_url: z.string(),
  issuer: z.optional(z.nullable(z.string())),
  client_id: z.string(),
  client_secret: z.optional(z.nullable(z.string())),
  access_token: z.string(),
  refresh_token: z.optional(z.nullable(z.string())),
  expires_at: z.optional(z.nullable(z.number())),
  scopes: z.optional(z.nullable(z.array(z.string()))),
});

/**
 * A file of mode 600 in the format of Codex 0.169.0 (`$CODEX_HOME/.credentials.json`), so that a login with either serves both. What others have
 * written into it stays.
 */
export function createCredentialFile(path: string): CredentialStore {
  const readAll = async (): Promise<Record<string, unknown>> => {
    let text: string;
    try {
      text = String(await readPlainFile(path, { maxBytes: MAX_CREDENTIALS_BYTES }));
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return {};
      throw new Error(`${path}: ${messageOf(cause)}`, { cause });
    }
    try {
      const all: unknown = JSON.parse(text);
      if (typeof all === "object" && all !== null && !Array.isArray(all)) return { ...all };
    } catch {
      // A parser's message quotes the text, which has tokens.
    }
    throw new Error(`${path}: expected a JSON object`);
  };

  return {
    async read(server) {
      const entry = (await readAll())[keyOf(server)];
      if (entry === undefined) return undefined;
      const parsed = z.safeParse(entrySchema, entry);
      if (!parsed.success) throw new Error(`${path}: the entry of \`${server.name}\` is not one of credentials`);
      const { issuer, client_id, client_secret, access_token, refresh_token, expires_at, scopes } = parsed.data;
      return {
        issuer: issuer ?? undefined,
        clientId: client_id,
        clientSecret: client_secret ?? undefined,
        accessToken: access_token,
        refreshToken: refresh_token ?? undefined,
        expiresAt: expires_at ?? undefined,
        scopes: scopes ?? [],
      };
    },
    async write(server, credentials) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await withFileLock(`${path}.lock`, {}, async () => {
        const { [keyOf(server)]: _, ...others } = await readAll();
        await replace(
          path,
          credentials === undefined ? others : { ...others, [keyOf(server)]: toEntry(server, credentials) },
        );
      });
    },
    async alone(server, body) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const name = createHash("sha256").update(keyOf(server)).digest("hex").slice(0, 16);
      return withFileLock(`${path}.${name}.lock`, { timeoutMs: REFRESH_LOCK_MS }, body);
    },
  };
}

/** As Codex names an entry. */
function keyOf({ name, url }: OAuthServer): string {
  const identity = JSON.stringify({ type: "http", url, headers: {} });
  return `${name}|${createHash("sha256").update(identity).digest("hex").slice(0, 16)}`;
}

const toEntry = (server: OAuthServer, credentials: Credentials) => ({
  server_name: server.name,
  server_url: server.url,
  ...defined({ issuer: credentials.issuer }),
  client_id: credentials.clientId,
  ...defined({ client_secret: credentials.clientSecret }),
  access_token: credentials.accessToken,
  ...defined({ expires_at: credentials.expiresAt, refresh_token: credentials.refreshToken }),
  scopes: credentials.scopes,
});

/** Whole or not at all; nobody else can read it at any time. */
async function replace(path: string, all: object): Promise<void> {
  const next = `${path}.${process.pid}-${randomUUID()}`;
  try {
    await writeFile(next, JSON.stringify(all), { mode: 0o600, flag: "wx" });
    await chmod(next, 0o600);
    await rename(next, path);
  } catch (cause) {
    await rm(next, { force: true });
    throw new Error(`${path}: ${messageOf(cause).replaceAll(next, path)}`, { cause });
  }
}
