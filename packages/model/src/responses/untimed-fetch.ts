/** Default timeout of Node's `fetch` without a byte, milliseconds. */
const OWN_TIMEOUT_MS = 300_000;

/** Key of the global dispatcher of Node's `fetch` (undici). */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/**
 * Returns a `fetch` without a timeout of its own when the caller's idle timeout is longer than that of Node's `fetch` (five
 * minutes); otherwise, and on other runtimes, `fetch` itself.
 * @param idleMs idle timeout of the caller, milliseconds
 */
export function createUntimedFetch(idleMs: number, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  if (idleMs < OWN_TIMEOUT_MS) return fetch;
  let options: Promise<object> | undefined;
  return async (input, init) => {
    options ??= createDispatcher(fetch);
    return fetch(input, { ...init, ...(await options) });
  };
}

/** Options with an undici dispatcher that has no timeouts; empty on other runtimes. */
async function createDispatcher(fetch: typeof globalThis.fetch): Promise<object> {
  const host = globalThis as { [DISPATCHER]?: { constructor?: unknown } }; // set by Node; read only
  // Node 20 creates it on the first request.
  if (host[DISPATCHER] === undefined) await fetch("data:,").catch(() => {});
  const create = host[DISPATCHER]?.constructor;
  if (typeof create !== "function" || create.name !== "Agent") return {};
  const Agent = create as new (options: { headersTimeout: number; bodyTimeout: number }) => object;
  return { dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) };
}
