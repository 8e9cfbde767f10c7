import type { Clock } from "@codex/clock";
import type { ListedExecutor } from "@codex/relay";
import { defined, messageOf } from "@codex/values";
import type { KnownExecutors, RegisteredEnvironment } from "./known-executors.js";
import type { EnvironmentLink } from "./link.js";
import { LinkError } from "./link-error.js";

/** The address of an environment behind a registry. */
export interface NoiseAddress extends RegisteredEnvironment {
  /** Bearer token for the registry; empty for none. Only sent over https: or to this machine. */
  token: string | (() => Promise<string>);
  /** Labels that the executor must have. With an empty `environmentId`, an executor of any environment. */
  labels?: Readonly<Record<string, string>> | undefined;
  chatgptAccountId?: string | undefined;
  /** Additional trusted CA certificates (PEM). */
  ca?: string | Uint8Array | (() => Promise<string>) | undefined;
  /** Executors with pinned keys. Without it, the registry is trusted. */
  known?: KnownExecutors | undefined;
  clock?: Clock | undefined;
}

/**
 * A link to a registered executor, through a rendezvous that cannot read the traffic. With an executor of this project a channel
 * outlives its socket.
 */
export function createNoiseLink(address: NoiseAddress): EnvironmentLink {
  // The registry and the executor see one harness for all channels.
  const secrets: string[] = [];
  let identity: Promise<Awaited<ReturnType<typeof createKeys>>> | undefined;
  return {
    secrets,
    async open(signal) {
      identity ??= createKeys();
      const { relay, keys } = await identity;
      const registry = createRegistry(relay, address, secrets);
      try {
        const channel = await relay.openNoiseChannel({
          registry: await registry,
          identity: keys,
          signal,
          checkKey: (key) => address.known?.check(address, relay.fingerprintOf(key)),
          ...defined({ clock: address.clock }),
        });
        return { channel };
      } catch (error) {
        throw toLinkError(relay, error);
      }
    },
  };
}

/**
 * Trusts only the current key of the executor, or the key with the given fingerprint, from now on.
 * @throws LinkError
 */
export async function trustExecutor(
  address: NoiseAddress & { known: KnownExecutors },
  given?: string,
): Promise<{ fingerprint: string; former: string | undefined }> {
  const fingerprint = given ?? (await readFingerprint(address));
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(fingerprint)) {
    throw new LinkError(
      "unsupported",
      `${JSON.stringify(fingerprint)} is not a fingerprint; expected SHA256: and 43 characters`,
    );
  }
  return { fingerprint, former: await address.known.trust(address, fingerprint) };
}

async function readFingerprint(address: NoiseAddress): Promise<string> {
  const { relay, keys } = await createKeys();
  try {
    const { executor } = await relay.requestMeeting(await createRegistry(relay, address), keys.publicKey);
    return relay.fingerprintOf(executor);
  } catch (error) {
    throw toLinkError(relay, error);
  }
}

type Relay = typeof import("@codex/relay");

/** Loaded on demand. */
async function createKeys() {
  const relay = await import("@codex/relay");
  return { relay, keys: relay.createIdentity(await relay.loadMlKem()) };
}

async function createRegistry(
  relay: Relay,
  { registryUrl, environmentId, labels, token: given, chatgptAccountId, ca }: NoiseAddress,
  secrets: string[] = [],
) {
  const token = typeof given === "string" ? given : await given();
  if (token !== "" && !secrets.includes(token)) secrets.push(token);
  const headers = {
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    ...defined({ "chatgpt-account-id": chatgptAccountId }),
  };
  const authorize = ({ url }: { url: string }) => {
    const problem = relay.findDestinationProblem("bearer", url);
    if (problem !== undefined) throw new LinkError("unauthorized", problem);
    return headers;
  };
  return { url: registryUrl, environmentId, labels, authorize, ca: typeof ca === "function" ? await ca() : ca };
}

/** Lists the executors of a registry of this project. @throws LinkError */
export async function listRegistered(address: Omit<NoiseAddress, "environmentId">): Promise<ListedExecutor[]> {
  const relay = await import("@codex/relay");
  try {
    return await relay.listExecutors(await createRegistry(relay, { ...address, environmentId: "" }));
  } catch (error) {
    throw toLinkError(relay, error);
  }
}

function toLinkError(relay: Relay, error: unknown): unknown {
  if (error instanceof relay.RegistryError) {
    const isRefused = error.status === 401 || error.status === 403;
    return new LinkError(isRefused ? "unauthorized" : "unreachable", error.message);
  }
  if (error instanceof relay.SocketError) return new LinkError("unreachable", error.message);
  if (error instanceof relay.StreamRefusedError) return new LinkError("handshake_failed", messageOf(error));
  return error;
}
