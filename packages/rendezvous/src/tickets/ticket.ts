import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";
import { MAX_TICKET_BYTES } from "../limits.js";

/** Purpose of a ticket. */
export type TicketUse =
  /** An executor may open the connection of its registration, repeatedly while it is valid. */
  | "executor"
  /** A harness may open one connection. */
  | "harness"
  /** The executor may admit the harness with this key, once. */
  | "authorization";

/** Content of a ticket. */
export interface Ticket {
  use: TicketUse;
  environmentId: string;
  /** Id of the executor's registration. */
  registrationId: string;
  /** Id of the node where it is used; undefined for any. */
  nodeId?: string | undefined;
  /** For an executor: member of the environment that it registered as. */
  member?: string | undefined;
  /** Unique among tickets; both tickets of one `connect` share it. */
  id: string;
  /** Fingerprint of the harness's public key; undefined for an executor. */
  keyHash?: string | undefined;
  /** Expiry, milliseconds since 1970; undefined: valid as long as the registration. */
  expiresAt?: number | undefined;
}

/** Issues and verifies tickets with one key. */
export interface TicketOffice {
  sign(ticket: Ticket): string;
  /** Undefined if it was not signed with the key. The caller checks the expiry. */
  read(text: string): Ticket | undefined;
}

const LABEL = "codex-rendezvous-ticket/v1\0";

const schema = z.strictObject({
  u: z.enum(["executor", "harness", "authorization"]),
  e: z.string(),
  r: z.string(),
  n: z.optional(z.string()),
  m: z.optional(z.string()),
  i: z.string(),
  k: z.optional(z.string()),
  x: z.optional(z.number()),
});

/** @param key at least 32 random bytes; the nodes of one rendezvous share it */
export function createTicketOffice(key: Uint8Array): TicketOffice {
  if (key.length < 32) throw new RangeError(`the ticket key has ${key.length} bytes; it needs at least 32`);
  const mac = (payload: string): Buffer => createHmac("sha256", key).update(LABEL).update(payload).digest();
  return {
    sign({ use, environmentId, registrationId, nodeId, member, id, keyHash, expiresAt }) {
      const claims = {
        u: use,
        e: environmentId,
        r: registrationId,
        n: nodeId,
        m: member,
        i: id,
        k: keyHash,
        x: expiresAt,
      };
      const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `v1.${payload}.${mac(payload).toString("base64url")}`;
    },
    read(text) {
      if (Buffer.byteLength(text) > MAX_TICKET_BYTES) return undefined;
      const [, payload, signature] = /^v1\.([\w-]+)\.([\w-]{43})$/.exec(text) ?? [];
      if (payload === undefined || signature === undefined) return undefined;
      // Compare the text, so that each signature has exactly one encoding.
      const expected = Buffer.from(mac(payload).toString("base64url"));
      if (!timingSafeEqual(Buffer.from(signature), expected)) return undefined;
      const { u, e, r, n, m, i, k, x } = schema.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
      return { use: u, environmentId: e, registrationId: r, nodeId: n, member: m, id: i, keyHash: k, expiresAt: x };
    },
  };
}
