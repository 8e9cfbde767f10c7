import * as z from "zod/mini";
import { labelsSchema } from "../registry/messages.js";
import { publicKeySchema } from "../registry/public-key.js";
import type { Entry, Place, Registration } from "../registry/registrations.js";

/** Stored form of a registration, shared by the nodes. */
const recordSchema = z.object({
  v: z.literal(1),
  /** Id of the node that wrote it. */
  by: z.string(),
  id: z.string(),
  env: z.string(),
  member: z.string(),
  transport: z.enum(["noise", "legacy", "direct"]),
  key: z.optional(publicKeySchema),
  expires: z.optional(z.number()),
  registered: z.number(),
  name: z.string(),
  version: z.string(),
  labels: labelsSchema,
  /** The node to which its executor is connected. */
  place: z.optional(z.object({ node: z.string(), load: z.number(), since: z.number() })),
});

/** Encodes a registration that was made at this node, or whose executor is connected to it. */
export function encodeRecord({ registration, link, since = 0 }: Entry, nodeId: string): string {
  const { id, environmentId, member, transport, key, expiresAt, registeredAt, name, version, labels } = registration;
  const place = link === undefined ? undefined : { node: nodeId, load: link.load, since };
  const common = { v: 1, by: nodeId, id, env: environmentId, member, transport, key, expires: expiresAt };
  return JSON.stringify({ ...common, registered: registeredAt, name, version, labels, place });
}

/** A registration as stored by a node. */
export interface StoredRegistration {
  registration: Registration;
  /** The node to which its executor is connected. */
  place: Place | undefined;
  /** Id of the node that wrote it. */
  writer: string;
}

/** Decodes a stored value; undefined for one of a later version. */
export function decodeRecord(value: string): StoredRegistration | undefined {
  const parsed = z.safeParse(recordSchema, parseJson(value));
  if (!parsed.success) return undefined;
  const { by, id, env, member, transport, key, expires, registered, name, version, labels, place } = parsed.data;
  const registration = {
    id,
    environmentId: env,
    member,
    transport,
    key,
    expiresAt: expires,
    registeredAt: registered,
    name,
    version,
    labels,
  };
  return {
    writer: by,
    registration,
    place: place === undefined ? undefined : { nodeId: place.node, load: place.load, since: place.since },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
