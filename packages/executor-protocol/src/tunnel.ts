import * as z from "zod/mini";
import { countSchema, keySchema } from "./scalars.js";

/** The number of a tunnel. */
const tunnelSchema = z.int().check(z.positive());
/** What one end of a tunnel may have on its way, bytes. */
const windowBytesSchema = z.int().check(z.minimum(1024));

/** What every message through a tunnel begins with. */
const inTunnel = <const Type extends string>(type: Type) => ({ type: z.literal(type), tunnel: tunnelSchema });

/** Opens a tunnel to the exec-server beside an executor; answered by `open_exec_server_response` or `error`. */
export const openExecServerRequestSchema = z.object({
  type: z.literal("open_exec_server"),
  requestId: keySchema,
  /** Chosen by the orchestrator; rises from tunnel to tunnel. */
  tunnel: tunnelSchema,
  /** What the executor may have on its way, bytes. */
  windowBytes: windowBytesSchema,
});

/** The tunnel is open. */
export const openExecServerResponseSchema = z.object({
  type: z.literal("open_exec_server_response"),
  requestId: keySchema,
  /** What the orchestrator may have on its way, bytes. */
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

/** Either direction: so much was taken of a tunnel since it was opened. */
export const execServerAckSchema = z.object({
  ...inTunnel("exec_server_ack"),
  takenBytes: countSchema,
});

/** Either direction: the sender has closed its end, and takes nothing more. Not answered. */
export const execServerClosedSchema = z.object({
  ...inTunnel("exec_server_closed"),
  reason: z.optional(z.string()),
});

/** What goes through an open tunnel. */
export type TunnelMessage = z.infer<
  typeof execServerPieceSchema | typeof execServerAckSchema | typeof execServerClosedSchema
>;
