import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defined } from "@codex/values";
import { type AiSdkModelOptions, createAiSdkModel } from "../ai-sdk/ai-sdk-model.js";
import type { LanguageModel } from "../ai-sdk/language-model.js";
import { asObject, asText, type JsonObject } from "../json/members.js";
import type { ModelPort } from "../model-port.js";
import type { Provider } from "../provider/provider.js";

/** A provider's package cannot be used. */
export class AdapterError extends Error {
  readonly code: "not_installed" | "not_usable";

  constructor(code: AdapterError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AdapterError";
    this.code = code;
  }
}

/** Options of {@link loadAdapterModel}. */
export interface AdapterOptions extends Omit<AiSdkModelOptions, "model" | "retry" | "streamIdleMs" | "redact"> {
  /** Its `adapter` must be set. */
  readonly provider: Provider;
  readonly modelName: string;
  /**
   * Directories whose `node_modules` are searched in order, such as `$CODEX_HOME`. Never pass a project directory: the package
   * found is executed.
   */
  readonly from: readonly string[];
  /** Bearer token, for a provider with `auth`. */
  readonly token?: string;
}

/**
 * Loads the AI SDK provider package named by `adapter`, which the user installs, and creates its model.
 * @throws AdapterError naming the package and how to install it
 */
export async function loadAdapterModel(options: AdapterOptions): Promise<ModelPort> {
  const { provider, modelName, from, token, ...rest } = options;
  const { adapter = "", retry, streamIdleMs } = provider;
  const found = await importPackage(adapter, from);
  const create = Object.entries(found).find(
    ([name, value]) => /^create[A-Z]/.test(name) && typeof value === "function",
  )?.[1];
  if (create === undefined) throw new AdapterError("not_usable", `${adapter} has no function named create…`);
  // The factory's return value is checked by createModel.
  const made: unknown = (create as (settings: object) => unknown)(describeProvider(provider, token));
  const model = createModel(made, modelName);
  if (model === undefined) {
    throw new AdapterError("not_usable", `${adapter} provides no LanguageModelV3: install a version for AI SDK 6`);
  }
  const filter = provider.createFilter(token);
  const redact = (text: string) => filter.hide(text);
  return createAiSdkModel({ ...rest, model, retry, streamIdleMs, redact });
}

function describeProvider(provider: Provider, token: string | undefined): object {
  const { credential, headers, id, baseUrl, query } = provider;
  const apiKey = credential.kind === "key" ? credential.key.reveal() : token;
  return {
    name: id,
    ...defined({ baseURL: baseUrl, apiKey }),
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
    queryParams: query,
  };
}

function createModel(made: unknown, modelName: string): LanguageModel | undefined {
  const holder = made as { languageModel?: unknown }; // a function or an object; read only
  const create = typeof holder?.languageModel === "function" ? holder.languageModel : made;
  if (typeof create !== "function") return undefined;
  const model = asObject((create as (this: unknown, name: string) => unknown).call(made, modelName));
  return isLanguageModel(model) ? model : undefined;
}

/** Checks the members that are called or compared; the others are only for messages. */
const isLanguageModel = (model: JsonObject | undefined): model is JsonObject & LanguageModel =>
  model?.specificationVersion === "v3" && typeof model.doStream === "function";

async function importPackage(name: string, from: readonly string[]): Promise<Record<string, unknown>> {
  if (!/^(?:@[\w.-]+\/)?[\w-][\w.-]*$/.test(name)) {
    throw new AdapterError("not_usable", `adapter ${JSON.stringify(name)} is not a package name`);
  }
  for (const directory of from) {
    const path = resolveIn(directory, name);
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  }
  const [place = "."] = from;
  throw new AdapterError("not_installed", `${name} is not installed: npm install --prefix ${place} ${name}`);
}

/** Resolves in this directory only: parent directories and `NODE_PATH` may be writable by others. */
function resolveIn(directory: string, name: string): string | undefined {
  if (!existsSync(join(directory, "node_modules", name, "package.json"))) return undefined;
  try {
    return createRequire(join(directory, "package.json")).resolve(name);
  } catch (error) {
    if (asText(asObject(error)?.code) === "MODULE_NOT_FOUND") return undefined;
    throw new AdapterError("not_usable", `${name} in ${directory} cannot be used`, error);
  }
}
