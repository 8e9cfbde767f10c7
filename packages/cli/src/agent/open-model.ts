import { join, resolve } from "node:path";
import {
  createResponsesModel,
  type ModelPort,
  type Provider,
  ProviderError,
  resolveProvider,
  type TokenCommand,
} from "@codex/agent";
import { AdapterError, createNodeFetch, createTokenReader, loadAdapterModel } from "@codex/agent/node";
import { codexHome } from "@codex/config";
import { findProxy, ProxyError } from "@codex/http-proxy";
import { readPlainFile } from "@codex/plain-file";
import { VERSION } from "@codex/servers";
import { defined } from "@codex/values";
import { CommandError } from "../exit-codes.js";
import { openProgramDirectory } from "../program-directory.js";

/** A model and its provider. */
export interface OpenedModel {
  readonly model: ModelPort;
  readonly provider: Provider;
  readonly notices: readonly string[];
}

/**
 * Opens the configured model endpoint. Sends no request.
 * @param onAsked called after each request was sent, before its response; never for an adapter
 * @throws CommandError for a provider that is unknown or invalid, or without a key
 */
export async function openModel(
  table: Readonly<Record<string, unknown>>,
  modelName: string,
  id: string | undefined,
  onAsked: () => void,
): Promise<OpenedModel> {
  try {
    const auth = await readAuth();
    const sources = { config: table, env: process.env, ...defined({ auth }) };
    const { provider, notices } = resolveProvider(id === undefined ? sources : { ...sources, id });
    const { credential } = provider;
    const readToken = credential.kind === "command" ? createTokenReader(startElsewhere(credential.command)) : undefined;
    if (provider.adapter !== undefined) {
      const token = await readToken?.(AbortSignal.timeout(ADAPTER_TOKEN_MS));
      // Never a project directory: the package found is executed.
      const adapter = { provider, modelName, from: [codexHome()] };
      const model = await loadAdapterModel(token === undefined ? adapter : { ...adapter, token });
      return { model, provider, notices };
    }
    const originator = readOriginator();
    const model = createResponsesModel({
      provider,
      userAgent: `codex-ts/${VERSION}`,
      ...defined({ originator, readToken }),
      fetch: createNodeFetch(undefined, findProxy(new URL(provider.url), process.env), onAsked),
    });
    return { model, provider, notices };
  } catch (error) {
    const isKnown = error instanceof ProviderError || error instanceof AdapterError || error instanceof ProxyError;
    if (!isKnown) throw error;
    throw new CommandError(error.message, 1, { cause: error });
  }
}

/** As in Codex, a relative directory is below `CODEX_HOME`; the default is none that a project may have written. */
const startElsewhere = (command: TokenCommand): TokenCommand => ({
  ...command,
  cwd: command.cwd === undefined ? openProgramDirectory() : resolve(codexHome(), command.cwd),
});

/** Set by calling programs, such as the Codex SDK; undefined when invalid in a header. */
function readOriginator(): string | undefined {
  const given = process.env.CODEX_INTERNAL_ORIGINATOR_OVERRIDE;
  return given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : undefined;
}

/** Timeout for the token of an adapter, milliseconds. */
const ADAPTER_TOKEN_MS = 30_000;

/** Longest `auth.json`, bytes. */
const MAX_AUTH_BYTES = 1024 * 1024;

/** Reads `auth.json`; undefined when missing or invalid. */
async function readAuth(): Promise<unknown> {
  try {
    return JSON.parse(String(await readPlainFile(join(codexHome(), "auth.json"), { maxBytes: MAX_AUTH_BYTES })));
  } catch {
    return undefined;
  }
}
