import type { RequestContext, RequestHandler } from "@codex/channel";
import type { ConnectionFileSystem } from "@codex/host-files";
import { FS_REQUESTS } from "@codex/host-files";
import { type CapabilityHost, DISCOVERY_REQUESTS } from "../capabilities/methods.js";
import { ENVIRONMENT_REQUESTS, type HostEnvironment } from "../environment/methods.js";
import type { ConnectionHttp } from "../http/http-client.js";
import { HTTP_REQUESTS } from "../http/methods.js";
import type { Handshake, MethodFamily } from "./handshake.js";
import type { PacedQueue } from "./paced-queue.js";
import { PROCESS_REQUESTS, type ProcessHost } from "./process-requests.js";
import type { ResponseMemory } from "./response-memory.js";

/** Collaborators of the requests of one connection. */
export interface RequestHost extends Omit<ProcessHost, "session" | "trace"> {
  handshake: Handshake;
  files: ConnectionFileSystem;
  /** Queue of the file calls. */
  fileQueue: PacedQueue;
  http: ConnectionHttp;
  /** Memory for bodies of HTTP responses. */
  bodyMemory: ResponseMemory;
  environment: HostEnvironment & CapabilityHost;
}

/** The handlers of all requests except `initialize`. Params are decoded before the state of the connection is checked. */
export function createRequests(host: RequestHost): Map<string, RequestHandler> {
  const { handshake, files, fileQueue, http, bodyMemory, environment, reads, defaults, ended } = host;
  const handlers = new Map<string, RequestHandler>();
  const add = <Run>(
    requests: ReadonlyMap<string, (params: unknown) => Run>,
    familyOf: (method: string) => MethodFamily,
    call: (run: Run, session: ReturnType<Handshake["require"]>, context: RequestContext) => unknown,
  ) => {
    for (const [method, decode] of requests) {
      const family = familyOf(method);
      handlers.set(method, (params, context) => {
        const run = decode(params);
        return handshake.afterResume(() => call(run, handshake.require(family), context));
      });
    }
  };
  add(
    PROCESS_REQUESTS,
    () => "exec",
    (run, session, { trace }) => run({ session, reads, defaults, ended, trace }),
  );
  add(
    FS_REQUESTS,
    () => "filesystem",
    (run) => fileQueue.run((reserve) => run(files, reserve)),
  );
  add(
    HTTP_REQUESTS,
    () => "http",
    (run) => bodyMemory.run((reserve) => run(http, { reserve })),
  );
  add(
    DISCOVERY_REQUESTS,
    () => "capability discovery",
    (run) => run(environment, files),
  );
  add(ENVIRONMENT_REQUESTS, nameEnvironmentFamily, (run) => run(environment));
  return handlers;
}

/** Codex names these methods one by one: `environment/info` is `environment info`, `environmentConfig/read` is `environment config`. */
function nameEnvironmentFamily(method: string): MethodFamily {
  const [, word = ""] = method.split(/\/|(?=[A-Z])/);
  return `environment ${word.toLowerCase()}`;
}
