import type { ConfigReadResult } from "@codex/exec-server-protocol";
import { METHODS } from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import { parseResponse } from "../connection/responses.js";
import type { Calls } from "../session/calls.js";

const layers = z.object({
  layers: z.array(z.object({ source: z.string(), baseDir: z.string(), toml: z.string() })),
  cloudInsertionIndex: z.int(),
});
const responses = {
  /** Members that known servers omit are optional; omitted capabilities are absent. */
  info: z.looseObject({
    shell: z.object({ name: z.string(), path: z.string() }),
    executorVersion: z.nullish(z.string()),
    cwd: z.nullish(z.string()),
    userHomeDir: z.nullish(z.string()),
    platformOs: z.nullish(z.string()),
    capabilities: z.nullish(z.record(z.string(), z.boolean())),
  }),
  status: z.object({ status: z.string() }),
  configRead: z.object({
    userHomeDir: z.string(),
    codexHomeDir: z.string(),
    hostname: z.string(),
    config: layers,
    requirements: layers,
  }),
};

/** The host of an exec-server, as it describes itself. */
export type RemoteEnvironmentInfo = z.output<typeof responses.info>;

/** The host of an exec-server. All calls are repeated after a disconnect. */
export class RemoteEnvironment {
  readonly #calls: Pick<Calls, "call">;
  readonly #getHandshakeInfo: () => unknown;

  /** @param getHandshakeInfo the description in the response to `initialize`; undefined where there is none */
  constructor(calls: Pick<Calls, "call">, getHandshakeInfo: () => unknown) {
    this.#calls = calls;
    this.#getHandshakeInfo = getHandshakeInfo;
  }

  /** As the handshake described it; requested where it did not. Some servers support only one of the two. */
  async describe(): Promise<RemoteEnvironmentInfo> {
    return responses.info.safeParse(this.#getHandshakeInfo()).data ?? this.info();
  }

  async info(signal?: AbortSignal): Promise<RemoteEnvironmentInfo> {
    return this.#request(METHODS.environmentInfo, null, responses.info, signal);
  }

  /** `ready` from all servers known. */
  async status(): Promise<string> {
    return (await this.#request(METHODS.environmentStatus, null, responses.status)).status;
  }

  /** @param cwd `file:` URI */
  configRead(params: {
    cwd: string;
    configPaths: readonly (readonly string[])[];
    requirementsPaths: readonly (readonly string[])[];
  }): Promise<ConfigReadResult> {
    return this.#request(METHODS.environmentConfigRead, params, responses.configRead);
  }

  async #request<Schema extends z.ZodMiniType>(
    method: string,
    params: unknown,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const options = { idempotent: true, ...defined({ signal }) };
    return parseResponse(schema, await this.#calls.call(method, params, options), method);
  }
}
