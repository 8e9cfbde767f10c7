import { RpcError } from "@codex/channel";
import { type DiscoverResult, decodeDiscover, ERROR_CODES, METHODS } from "@codex/exec-server-protocol";
import type { ConnectionFileSystem } from "@codex/host-files";
import type { CapabilityFinder } from "./capability-finder.js";

/** What is installed on this host, the same for every connection. */
export interface CapabilityHost {
  /** Without it `capabilities/discoverV2` is an unknown method. */
  capabilities?: CapabilityFinder;
}

/** A discovery with decoded params. */
export type DiscoveryRequest = (host: CapabilityHost, files: ConnectionFileSystem) => Promise<DiscoverResult>;

/** Decoders of the requests by method, as `ENVIRONMENT_REQUESTS`; what is found is read with the files of the connection. */
export const DISCOVERY_REQUESTS: ReadonlyMap<string, (params: unknown) => DiscoveryRequest> = new Map([
  [
    METHODS.capabilitiesDiscover,
    (params: unknown): DiscoveryRequest => {
      const decoded = decodeDiscover(params);
      return async ({ capabilities }, files) => {
        if (capabilities !== undefined) return capabilities.discover(decoded, files);
        throw new RpcError(ERROR_CODES.methodNotFound, `${METHODS.capabilitiesDiscover} is not available here`);
      };
    },
  ],
]);
