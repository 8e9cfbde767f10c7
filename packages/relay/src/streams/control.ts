import * as z from "zod/mini";

const offset = z.int().check(z.minimum(0));
const session = z.string().check(z.minLength(1), z.maxLength(64));

/**
 * Control messages between two ends of this implementation, in addition to the records. Each is self-contained and supersedes earlier
 * ones, so any may be lost.
 */
const controlSchema = z.discriminatedUnion("type", [
  /** Progress of the sender of this message. */
  z.object({
    type: z.literal("state"),
    session,
    /** Number of the next expected record on this socket. */
    next: offset,
    /** Numbers of buffered records, relative to `next`. */
    held: z.array(offset).check(z.maxLength(64)),
    /** Bytes received in order, over all sockets. */
    received: offset,
    /** Total bytes that it accepts (flow control). */
    limit: offset,
    /** Requests a `state` in response. */
    ask: z.optional(z.boolean()),
    /** The executor accepts resumption handshakes. */
    resumption: z.optional(z.boolean()),
  }),
  /** A harness resumes a session on another socket. */
  z.object({ type: z.literal("resume"), session, received: offset, limit: offset }),
  /** The executor has no such session of this harness. */
  z.object({ type: z.literal("gone"), session }),
  /** The stream ends after this many bytes. */
  z.object({ type: z.literal("end"), total: offset }),
]);

/** A control message. */
export type ControlMessage = z.infer<typeof controlSchema>;

/** Progress of the sender. */
export type StreamState = Extract<ControlMessage, { type: "state" }>;

/** A harness's request to continue a stream over another link. */
export type ResumeRequest = Extract<ControlMessage, { type: "resume" }>;

export const encodeControl = (message: ControlMessage): Buffer => Buffer.from(JSON.stringify(message));

/** Decodes a control message; undefined for one of a later version. */
export function parseControl(bytes: Buffer): ControlMessage | undefined {
  try {
    const parsed = z.safeParse(controlSchema, JSON.parse(bytes.toString()));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * White space after the first message of a harness, which offers control messages. It is insignificant in JSON, so Codex
 * ignores it.
 */
const OFFER = Buffer.from("\t \t\t  \t \t\t\t \t  \t");

/** Appends the offer to a message. */
export const withOffer = (json: Buffer): Buffer => Buffer.concat([json, OFFER]);

/** Removes the offer from a message; undefined if it has none. */
export function withoutOffer(json: Buffer): Buffer | undefined {
  return json.subarray(-OFFER.length).equals(OFFER) ? json.subarray(0, -OFFER.length) : undefined;
}

export const OFFER_BYTES = OFFER.length;
