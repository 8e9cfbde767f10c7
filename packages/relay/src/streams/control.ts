import * as z from "zod/mini";

const offset = z.int().check(z.minimum(0));
const session = z.string().check(z.minLength(1), z.maxLength(64));

/**
 * What both ends say to each other beside the records, when both are ours. Each message is complete in itself: a later one makes an
 * earlier one needless, and any may be lost.
 */
const controlSchema = z.discriminatedUnion("type", [
  /** How far the sender of this has come. */
  z.object({
    type: z.literal("state"),
    session,
    /** Number of the record that it expects next on this socket. */
    next: offset,
    /** Numbers of records that it keeps, relative to `next`. */
    held: z.array(offset).check(z.maxLength(64)),
    /** Bytes that it has received in order, over all sockets. */
    received: offset,
    /** Bytes that it will take in all. */
    limit: offset,
    /** It wants a `state` in return. */
    ask: z.optional(z.boolean()),
  }),
  /** A harness is back, on another socket. */
  z.object({ type: z.literal("resume"), session, received: offset, limit: offset }),
  /** The executor has no such session, or not of this harness. */
  z.object({ type: z.literal("gone"), session }),
  /** The stream ends when so many bytes have been received. */
  z.object({ type: z.literal("end"), total: offset }),
]);

/** A control message. */
export type ControlMessage = z.infer<typeof controlSchema>;

/** How far the sender has come. */
export type StreamState = Extract<ControlMessage, { type: "state" }>;

export const encodeControl = (message: ControlMessage): Buffer => Buffer.from(JSON.stringify(message));

/** Undefined for one of a later version. */
export function parseControl(bytes: Buffer): ControlMessage | undefined {
  try {
    const parsed = z.safeParse(controlSchema, JSON.parse(bytes.toString()));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * White space behind the first message of a harness: it offers control messages. To JSON it means nothing, so that Codex never
 * sees it.
 */
const OFFER = Buffer.from("\t \t\t  \t \t\t\t \t  \t");

/** The message with the offer behind it. */
export const withOffer = (json: Buffer): Buffer => Buffer.concat([json, OFFER]);

/** The message without the offer; undefined where it has none. */
export function withoutOffer(json: Buffer): Buffer | undefined {
  return json.subarray(-OFFER.length).equals(OFFER) ? json.subarray(0, -OFFER.length) : undefined;
}

export const OFFER_BYTES = OFFER.length;
