import { EncodedResponse, RpcError } from "@codex/channel";
import {
  decodeConfigRead,
  decodeEnvironmentParams,
  type EnvironmentInfo,
  type EnvironmentStatusResult,
  ERROR_CODES,
  encodeJsonResult,
  METHODS,
} from "@codex/exec-server-protocol";
import type { ConfigReader } from "./config-reader.js";

/** What the environment requests are answered from; the same for every connection. */
export interface HostEnvironment {
  info: EnvironmentInfo;
  /** The same as JSON, so that it need not be made for each answer. */
  infoJson?: Buffer;
  /** Without one, `environmentConfig/read` is a method that is not there. */
  config?: ConfigReader;
}

/** A request whose params are decoded. */
export type EnvironmentRequest = (host: HostEnvironment) => unknown;

/** The environment requests by name. A function throws RpcError for bad params; what it returns may reject with RpcError. */
export const ENVIRONMENT_REQUESTS: ReadonlyMap<string, (params: unknown) => EnvironmentRequest> = new Map<
  string,
  (params: unknown) => EnvironmentRequest
>([
  [
    METHODS.environmentInfo,
    (params) => {
      decodeEnvironmentParams(params);
      return ({ info, infoJson }) =>
        infoJson === undefined ? info : new EncodedResponse((id) => encodeJsonResult(id, infoJson));
    },
  ],
  [
    METHODS.environmentStatus,
    (params) => {
      decodeEnvironmentParams(params);
      return (): EnvironmentStatusResult => ({ status: "ready" });
    },
  ],
  [
    METHODS.environmentConfigRead,
    (params) => {
      const decoded = decodeConfigRead(params);
      return async ({ config }) => {
        if (config !== undefined) return config.read(decoded);
        throw new RpcError(ERROR_CODES.methodNotFound, `${METHODS.environmentConfigRead} is not available here`);
      };
    },
  ],
]);
