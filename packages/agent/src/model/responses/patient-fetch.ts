/** Silence after which the `fetch` of Node gives up by itself, milliseconds. */
const OWN_TIMEOUT_MS = 300_000;

/** Where Node's `fetch` keeps what sends its requests; an entry of its own for each process. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/**
 * A `fetch` that leaves silences of this length to its caller. Node's own ends a request after five minutes without a byte,
 * however long was configured; elsewhere, and for shorter silences, it is the usual one.
 * @param idleMs longest silence, milliseconds
 */
export function createPatientFetch(idleMs: number, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  if (idleMs < OWN_TIMEOUT_MS) return fetch;
  let options: Promise<object> | undefined;
  return async (input, init) => {
    options ??= createDispatcher(fetch);
    return fetch(input, { ...init, ...(await options) });
  };
}

/** One of the kind that `fetch` uses, without timeouts; nothing where there is none of that kind. */
async function createDispatcher(fetch: typeof globalThis.fetch): Promise<object> {
  const host = globalThis as { [DISPATCHER]?: { constructor?: unknown } }; // Node's, and only looked at
  // Node 20 makes it with the first request.
  if (host[DISPATCHER] === undefined) await fetch("data:,").catch(() => {});
  const create = host[DISPATCHER]?.constructor;
  if (typeof create !== "function" || create.name !== "Agent") return {};
  const Agent = create as new (options: { headersTimeout: number; bodyTimeout: number }) => object;
  return { dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) };
}
