import * as z from "zod/mini";
import { decodeParams, lazily } from "./decode.js";
import { base64Member, optional, unsigned, withDefault } from "./members.js";

const httpRequestSchema = lazily(() =>
  z.object({
    /** Sent as it is: methods are case-sensitive. */
    method: z.string(),
    url: z.string(),
    headers: withDefault(
      z.array(
        z.object({
          name: z.string(),
          value: z.string(),
          /** Variable of the server's environment whose value is appended to `value`. */
          valueEnvVar: optional(z.string()),
        }),
      ),
      [],
    ),
    bodyBase64: optional(base64Member()),
    /** Milliseconds for the whole exchange, its body included; absent for none. */
    timeoutMs: optional(unsigned),
    /** Identifies the response body when it is streamed. */
    requestId: z.string(),
    streamResponse: withDefault(z.boolean(), false),
    redirectPolicy: withDefault(z.enum(["follow", "stop"]), "follow"),
  }),
);
/** Parameters of `http/request`. */
export type HttpRequestParams = z.output<ReturnType<typeof httpRequestSchema>>;

/** One header of a response. */
export interface HttpHeader {
  /** In lower case. */
  name: string;
  /** UTF-8 where the bytes are UTF-8, else one character for each byte (ISO 8859-1). */
  value: string;
}

export interface HttpRequestResult {
  status: number;
  /** In the order of arrival, repeated ones included. */
  headers: HttpHeader[];
  /** Empty when the body is streamed. */
  bodyBase64: string;
}

/** A piece of a streamed body. The last one is empty and has `done`, and `error` when the body is incomplete. */
export interface BodyDelta {
  requestId: string;
  /** From 1. */
  seq: number;
  bytes: Uint8Array;
  done: boolean;
  error: string | null;
}

/** Validates the parameters of `http/request`. @throws RpcError `invalidParams` */
export const decodeHttpRequest = (params: unknown): HttpRequestParams =>
  decodeParams(httpRequestSchema, params, "HttpRequestParams");

const httpCancelSchema = lazily(() =>
  z.object({
    /** That of the exchange to end. */
    requestId: z.string(),
  }),
);
/** Parameters of `http/cancel`. */
export type HttpCancelParams = z.output<ReturnType<typeof httpCancelSchema>>;

/** The response to `http/cancel`. */
export interface HttpCancelResult {
  /** False: no exchange of this id was in progress. */
  cancelled: boolean;
}

/** Validates the parameters of `http/cancel`. @throws RpcError `invalidParams` */
export const decodeHttpCancel = (params: unknown): HttpCancelParams =>
  decodeParams(httpCancelSchema, params, "HttpCancelParams");
