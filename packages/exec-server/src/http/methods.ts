import { EncodedResponse } from "@codex/channel";
import { decodeHttpRequest, encodeBytesResult, METHODS } from "@codex/exec-server-protocol";
import type { ConnectionHttp } from "./http-client.js";

/** A request whose params are decoded: runs on the HTTP of the connection and gives the result to answer with. */
export type HttpRequest = (http: ConnectionHttp, signal?: AbortSignal) => Promise<unknown>;

/** The `http/*` requests by name. A function throws RpcError for bad params; what it returns rejects with RpcError. */
export const HTTP_REQUESTS: ReadonlyMap<string, (params: unknown) => HttpRequest> = new Map([
  [
    METHODS.httpRequest,
    (params) => {
      const decoded = decodeHttpRequest(params);
      return async (http, signal) => {
        const { status, headers, body } = await http.request(decoded, signal);
        return new EncodedResponse((id) => encodeBytesResult(id, "bodyBase64", body, { status, headers }));
      };
    },
  ],
]);
