import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createResponsesModel, type ModelPort, type Provider, ProviderError, resolveProvider } from "@codex/agent";
import { createTokenReader } from "@codex/agent/node";
import { codexHome } from "@codex/config";
import { CommandError } from "../exit-codes.js";
import { VERSION } from "../version.js";

/** A model, and the provider that it is asked at. */
export interface OpenedModel {
  readonly model: ModelPort;
  readonly provider: Provider;
  readonly notices: readonly string[];
}

/**
 * The model endpoint of a configuration. Nothing is asked yet.
 * @throws CommandError for a provider that is unknown or wrong, or whose key is missing
 */
export async function openModel(
  table: Readonly<Record<string, unknown>>,
  id: string | undefined,
): Promise<OpenedModel> {
  try {
    const auth = await readAuth();
    const sources = { config: table, env: process.env, ...(auth === undefined ? {} : { auth }) };
    const { provider, notices } = resolveProvider(id === undefined ? sources : { ...sources, id });
    if (provider.adapter !== undefined) {
      throw new CommandError(
        `model_providers.${provider.id}.adapter is ${JSON.stringify(provider.adapter)}; adapters are not supported here yet`,
      );
    }
    const { credential } = provider;
    const token = credential.kind === "command" ? { readToken: createTokenReader(credential.command) } : {};
    const model = createResponsesModel({ provider, userAgent: `codex-ts/${VERSION}`, ...token });
    return { model, provider, notices };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new CommandError(error.message, 1, { cause: error });
  }
}

/** `auth.json`; undefined where there is none that could be read as JSON. */
async function readAuth(): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(codexHome(), "auth.json"), "utf8"));
  } catch {
    return undefined;
  }
}
