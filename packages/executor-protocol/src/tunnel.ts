import * as z from "zod/mini";
import { countSchema, keySchema } from "./scalars.js";

/** The number of a tunnel. */
const tunnelSchema = z.int().check(z.positive());
/** Unacknowledged data that one end of a tunnel may send, bytes. */
const windowBytesSchema = z.int().check(z.minimum(1024));

/** The members that every message through a tunnel begins with. */
const inTunnel = <const Type extends string>(type: Type) => ({ type: z.literal(type), tunnel: tunnelSchema });

/** Opens a tunnel to the exec-server beside an executor; answered by `open_exec_server_response` or `error`. */
export const openExecServerRequestSchema = z.object({
  type: z.literal("open_exec_server"),
  requestId: keySchema,
  /** Chosen by the orchestrator; increases from tunnel to tunnel. */
  tunnel: tunnelSchema,
  /** Unacknowledged data that the executor may send, bytes. */
  windowBytes: windowBytesSchema,
});

/** The tunnel is open. */
export const openExecServerResponseSchema = z.object({
  type: z.literal("open_exec_server_response"),
  requestId: keySchema,
  /** Unacknowledged data that the orchestrator may send, bytes. */
  windowBytes: windowBytesSchema,
});

/** Either direction: a piece of the JSON text of one message of the exec-server protocol. */
export const execServerPieceSchema = z.object({
  ...inTunnel("exec_server"),
  /** Not empty; ends between two characters. */
  data: z.string(),
  /** The message continues with the next piece. */
  more: z.optional(z.boolean()),
});

/** Either direction: how much data was taken from a tunnel since it was opened. */
export const execServerAckSchema = z.object({
  ...inTunnel("exec_server_ack"),
  takenBytes: countSchema,
});

/** Either direction: the sender has closed its end, and takes nothing more. Has no response. */
export const execServerClosedSchema = z.object({
  ...inTunnel("exec_server_closed"),
  reason: z.optional(z.string()),
});

/** A message through an open tunnel. */
export type TunnelMessage = z.infer<
  typeof execServerPieceSchema | typeof execServerAckSchema | typeof execServerClosedSchema
>;
