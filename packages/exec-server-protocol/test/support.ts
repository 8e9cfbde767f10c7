import { EncodedResponse, RpcError } from "@codex/channel";
import type { ConnectionHttp, HostEnvironment } from "@codex/exec-server";
import type { ConnectionFileSystem } from "@codex/host-files";
import { FS_REQUESTS } from "@codex/host-files";
import { ENVIRONMENT_REQUESTS } from "../../exec-server/src/environment/methods.js";
import { HTTP_REQUESTS } from "../../exec-server/src/http/methods.js";

/** What the requests of one connection operate on, without sessions and processes. */
export interface RequestTargets {
  files: ConnectionFileSystem;
  http: ConnectionHttp;
  host: HostEnvironment;
}

/** The response to a request as it is on the wire. */
export async function handleRequest(
  id: number,
  method: string,
  params: unknown,
  from: RequestTargets,
): Promise<unknown> {
  try {
    const result = await run(method, params, from);
    return result instanceof EncodedResponse ? JSON.parse(Buffer.from(result.encode(id)).toString()) : { id, result };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { error: { code: error.code, message: error.message }, id };
  }
}

async function run(method: string, params: unknown, { files, http, host }: RequestTargets): Promise<unknown> {
  const onFiles = FS_REQUESTS.get(method);
  if (onFiles !== undefined) return onFiles(params)(files);
  const onHttp = HTTP_REQUESTS.get(method);
  if (onHttp !== undefined) return onHttp(params)(http);
  const onHost = ENVIRONMENT_REQUESTS.get(method);
  if (onHost !== undefined) return onHost(params)(host);
  throw new Error(`no handler for ${method}`);
}
