import type { Environment, EnvironmentState } from "./environment.js";
import { EnvironmentError } from "./errors.js";

/** Environments by id, one of them the default, or none. */
export interface Environments extends AsyncDisposable {
  /** Undefined if it is configured as `none`. */
  readonly default: Environment | undefined;
  /** All environments, the default first. Does not connect them. */
  list(): readonly Environment[];
  /** @param id undefined for the default. @throws EnvironmentError `unknown_environment` or `disabled` */
  get(id?: string): Environment;
  /**
   * Connects an environment. If that fails and a fallback is configured for it, connects the fallback instead; the
   * result has `insteadOf`. @throws EnvironmentError of the requested environment
   */
  use(id?: string, options?: { signal?: AbortSignal }): Promise<UsedEnvironment>;
  /** Called when the state of an environment changes. Returns a function that stops it. */
  onChange(listener: (environment: Environment, state: EnvironmentState) => void): () => void;
  /** Closes all of them. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** A connected environment. */
export interface UsedEnvironment {
  environment: Environment;
  /** For a fallback: the requested environment, and why it cannot be used. */
  insteadOf?: { id: string; reason: string };
}

/** A source of environments, such as configuration. */
export interface EnvironmentProvider {
  /** Owned by the collection. Ids are unique. */
  readonly environments: readonly Environment[];
  /** Id of the default; undefined for none. */
  readonly default?: string | undefined;
  /** Id of the environment to use instead of one that cannot be connected; undefined for none. */
  getFallback?(id: string): string | undefined;
  /** Ids of environments to connect immediately; failures are reported in their state. */
  readonly eager?: readonly string[];
}

/** Collects the environments of a provider and owns them. @throws RangeError for a duplicate id or an unknown default */
export function createEnvironments(provider: EnvironmentProvider): Environments {
  const byId = new Map<string, Environment>();
  for (const environment of provider.environments) {
    if (byId.has(environment.id)) throw new RangeError(`there are two environments \`${environment.id}\``);
    byId.set(environment.id, environment);
  }
  const standard = provider.default === undefined ? undefined : byId.get(provider.default);
  if (provider.default !== undefined && standard === undefined) {
    throw new RangeError(`the default environment \`${provider.default}\` is not among the environments`);
  }
  const get = (id?: string): Environment => {
    const found = id === undefined ? standard : byId.get(id);
    if (found !== undefined) return found;
    if (id === undefined) throw new EnvironmentError("disabled", undefined, "there is no default environment");
    const known = [...byId.keys()].map((each) => `\`${each}\``).join(", ");
    const reason = known === "" ? "there is none" : `the environments are ${known}`;
    throw new EnvironmentError("unknown_environment", id, `it is not configured; ${reason}`);
  };
  for (const id of provider.eager ?? [])
    void byId
      .get(id)
      ?.connect()
      .catch(() => {});
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.all(Array.from(byId.values(), (each) => each.close())).then(() => {});
    return closing;
  };
  return {
    default: standard,
    list: () => [...byId.values()].sort((a, b) => Number(b === standard) - Number(a === standard)),
    get,
    use: (id, options) => use(get, provider, get(id), options),
    onChange(listener) {
      const stops = Array.from(byId.values(), (each) => each.onStateChange((state) => listener(each, state)));
      return () => {
        for (const stop of stops) stop();
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Follows the configured fallbacks; if all fail, the error is that of the requested environment. */
async function use(
  get: (id: string) => Environment,
  provider: EnvironmentProvider,
  asked: Environment,
  options: { signal?: AbortSignal } = {},
): Promise<UsedEnvironment> {
  const tried = new Set<string>();
  let failure: EnvironmentError | undefined;
  for (let environment: Environment | undefined = asked; environment !== undefined && !tried.has(environment.id); ) {
    tried.add(environment.id);
    try {
      await environment.connect(options);
      return failure === undefined
        ? { environment }
        : { environment, insteadOf: { id: asked.id, reason: failure.reason } };
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      failure ??= error;
    }
    const next: string | undefined = provider.getFallback?.(environment.id);
    environment = next === undefined ? undefined : get(next);
  }
  throw failure;
}
