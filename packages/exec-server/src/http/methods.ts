import { EncodedResponse } from "@codex/channel";
import {
  decodeHttpCancel,
  decodeHttpRequest,
  encodeBytesResult,
  type HttpCancelResult,
  METHODS,
} from "@codex/exec-server-protocol";
import type { ConnectionHttp, HttpRequestOptions } from "./http-client.js";

/** A request with decoded params: uses the HTTP client of the connection, and resolves with the result. */
export type HttpRequest = (http: ConnectionHttp, options?: HttpRequestOptions) => Promise<unknown>;

/** Decoders of the `http/*` requests by method. Each throws RpcError for bad params; the returned request rejects with RpcError. */
export const HTTP_REQUESTS: ReadonlyMap<string, (params: unknown) => HttpRequest> = new Map<
  string,
  (params: unknown) => HttpRequest
>([
  [
    METHODS.httpRequest,
    (params) => {
      const decoded = decodeHttpRequest(params);
      return async (http, options) => {
        const { status, headers, body } = await http.request(decoded, options);
        return new EncodedResponse((id) => encodeBytesResult(id, "bodyBase64", body, { status, headers }));
      };
    },
  ],
  [
    METHODS.httpCancel,
    (params) => {
      const { requestId } = decodeHttpCancel(params);
      return async (http): Promise<HttpCancelResult> => ({ cancelled: http.cancel(requestId) });
    },
  ],
]);
