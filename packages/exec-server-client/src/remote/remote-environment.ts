import type { ConfigReadResult } from "@codex/exec-server-protocol";
import { METHODS } from "@codex/exec-server-protocol";
import * as z from "zod/mini";
import { parseAnswer } from "../connection/answers.js";
import type { Calls } from "../session/calls.js";

const layers = z.object({
  layers: z.array(z.object({ source: z.string(), baseDir: z.string(), toml: z.string() })),
  cloudInsertionIndex: z.int(),
});
const answers = {
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
export type RemoteEnvironmentInfo = z.output<typeof answers.info>;

/** The host of an exec-server. All calls are repeated after a disconnect. */
export class RemoteEnvironment {
  readonly #calls: Pick<Calls, "call">;

  constructor(calls: Pick<Calls, "call">) {
    this.#calls = calls;
  }

  async info(): Promise<RemoteEnvironmentInfo> {
    return this.#ask(METHODS.environmentInfo, null, answers.info);
  }

  /** `ready` from all servers known. */
  async status(): Promise<string> {
    return (await this.#ask(METHODS.environmentStatus, null, answers.status)).status;
  }

  /** @param cwd `file:` URI */
  configRead(params: {
    cwd: string;
    configPaths: readonly (readonly string[])[];
    requirementsPaths: readonly (readonly string[])[];
  }): Promise<ConfigReadResult> {
    return this.#ask(METHODS.environmentConfigRead, params, answers.configRead);
  }

  async #ask<Schema extends z.ZodMiniType>(method: string, params: unknown, schema: Schema): Promise<z.output<Schema>> {
    return parseAnswer(schema, await this.#calls.call(method, params, { idempotent: true }), method);
  }
}
