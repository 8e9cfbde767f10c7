import { RpcError } from "@codex/channel";
import {
  decodeConfigRead,
  decodeEnvironmentParams,
  type EnvironmentInfo,
  type EnvironmentStatusResult,
} from "../protocol/environment.js";
import { ERROR_CODES, METHODS } from "../protocol/methods.js";
import type { ConfigReader } from "./config-reader.js";

/** What the environment requests are answered from; the same for every connection. */
export interface HostEnvironment {
  info: EnvironmentInfo;
  /** Without one, `environmentConfig/read` is a method that is not there. */
  config?: ConfigReader;
}

/** A request whose params are decoded. */
export type EnvironmentRequest = (host: HostEnvironment) => Promise<unknown>;

/** The environment requests by name. A function throws RpcError for bad params; what it returns rejects with RpcError. */
export const ENVIRONMENT_REQUESTS: ReadonlyMap<string, (params: unknown) => EnvironmentRequest> = new Map<
  string,
  (params: unknown) => EnvironmentRequest
>([
  [
    METHODS.environmentInfo,
    (params) => {
      decodeEnvironmentParams(params);
      return async ({ info }) => info;
    },
  ],
  [
    METHODS.environmentStatus,
    (params) => {
      decodeEnvironmentParams(params);
      return async (): Promise<EnvironmentStatusResult> => ({ status: "ready" });
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
