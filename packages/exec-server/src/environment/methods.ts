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

/** Data of the environment requests, the same for every connection. */
export interface HostEnvironment {
  info: EnvironmentInfo;
  /** `info` as JSON, encoded once. */
  infoJson?: Buffer;
  /** Without it `environmentConfig/read` is an unknown method. */
  config?: ConfigReader;
}

/** A request with decoded params. */
export type EnvironmentRequest = (host: HostEnvironment) => unknown;

/** Decoders of the environment requests by method. Each throws RpcError for bad params; the returned request may reject with RpcError. */
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
