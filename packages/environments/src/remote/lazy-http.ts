import { waitUnlessAborted } from "@codex/clock";
import type { ExecServerClient, RemoteHttpRequest } from "@codex/exec-server-client";
import type { EnvironmentHttp } from "../environment.js";

/** HTTP through the current client of an environment; each request connects first. An abort ends the wait for the connection. */
export function createLazyHttp(getClient: () => Promise<ExecServerClient>): EnvironmentHttp {
  const connect = async ({ signal }: RemoteHttpRequest) => {
    signal?.throwIfAborted();
    const connecting = getClient();
    const client =
      signal === undefined ? await connecting : await waitUnlessAborted(AbortSignal.any([signal]), connecting);
    signal?.throwIfAborted();
    return client!.http; // undefined only when the signal has aborted
  };
  return {
    request: async (request) => (await connect(request)).request(request),
    stream: async (request) => (await connect(request)).stream(request),
  };
}
