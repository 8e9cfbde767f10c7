import { type Access, listenRendezvous, openAccess, Rendezvous } from "@codex/rendezvous";
import { defined, messageOf } from "@codex/values";
import { MAX_EXIT_MS } from "../limits.js";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";
import { readTlsIdentity, type TlsArguments, watchTlsIdentity } from "../process/credentials.js";
import { isLoopback, parseHttpListenUrl } from "../process/listen-url.js";
import { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "../process/open-telemetry.js";
import { type DrainArguments, openServing } from "../process/serving.js";

/** Options of `codex rendezvous`. */
export interface RendezvousCommandOptions extends TelemetryArguments, TlsArguments, DrainArguments {
  listen: string;
  publicUrl?: string;
  behindProxy: boolean;
  tokenFile?: string;
  jwksFile?: string;
  jwtIssuer?: string;
  jwtAudience?: string;
  noiseOnly: boolean;
  nats?: string;
  nodeUrl?: string;
}

/** Serves registry and relay until a signal. */
export async function runRendezvous(options: RendezvousCommandOptions): Promise<void> {
  const address = parseHttpListenUrl(options.listen);
  const publicUrl = checkUrl("--public-url", options.publicUrl);
  const nodeUrl = checkUrl("--node-url", options.nodeUrl);
  if (nodeUrl !== undefined && options.nats === undefined) throw usage("--node-url needs --nats");
  const hasTls = readTlsIdentity(options) !== undefined;
  if (address.isTls === true && !hasTls) throw usage("--listen https:// needs --tls-cert and --tls-key");
  const telemetry = await openTelemetry("rendezvous", { ...options, metrics: true }, true);
  const { log } = telemetry;
  try {
    const tls = watchTlsIdentity(options, log);
    const access = readAccess(options, log);
    const { behindProxy: isBehindProxy, noiseOnly } = options;
    if (!isLoopback(address.host) || isBehindProxy) requireGuard(access, options.listen, hasTls || isBehindProxy);
    const cluster = options.nats === undefined ? undefined : await openCluster(options.nats, log);
    // So far a signal ends the process. From now on it stops the server.
    const serving = openServing(log, options, [tls]);
    const rendezvous = new Rendezvous({ access, noiseOnly, telemetry, ...(cluster && { cluster }) });
    const listener = await listenRendezvous(rendezvous, {
      ...address,
      isBehindProxy,
      ...defined({ tls, publicUrl, nodeUrl }),
    });
    serving.announce(listener.url);
    await serving.stopped;
    await listener.close({ drainMs: serving.drainMs });
    serving.close();
  } finally {
    await telemetry.close();
  }
}

async function openCluster(url: string, log: OpenedTelemetry["log"]) {
  const nats = await import("@codex/rendezvous/nats");
  try {
    nats.readNatsUrl(url);
  } catch (cause) {
    // Without the value: it may contain a password.
    throw usage(`--nats: ${messageOf(cause)}`, cause);
  }
  try {
    return await nats.openNatsCluster({ url, log });
  } catch (cause) {
    // The NATS library does not close its socket to a server that accepts a connection and then sends nothing.
    setTimeout(() => process.exit(), MAX_EXIT_MS).unref();
    throw cause;
  }
}

function checkUrl(option: string, text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\/[^?#@]+$/.test(text) && URL.canParse(text))) return text;
  throw usage(
    `${option} ${JSON.stringify(text)}: expected http://HOST or https://HOST, optionally with a port and a path`,
  );
}

function requireGuard(access: Access, listen: string, hasTls: boolean): void {
  const missing = [
    ...(access.isGuarded
      ? []
      : ["tokens (--token-file, --jwks-file, RENDEZVOUS_EXECUTOR_TOKEN and RENDEZVOUS_HARNESS_TOKEN)"]),
    ...(hasTls ? [] : ["TLS (--tls-cert and --tls-key, or --behind-proxy if a proxy in front terminates it)"]),
  ];
  if (missing.length === 0) return;
  throw usage(`${listen} can be reached from other machines: it needs ${missing.join(" and ")}`);
}

function readAccess(options: RendezvousCommandOptions, log: OpenedTelemetry["log"]): Access {
  const { RENDEZVOUS_EXECUTOR_TOKEN: executorToken, RENDEZVOUS_HARNESS_TOKEN: harnessToken } = process.env;
  try {
    return openAccess({ ...options, executorToken, harnessToken, log });
  } catch (cause) {
    throw usage(messageOf(cause), cause);
  }
}

const usage = (message: string, cause?: unknown) => new CommandError(message, SERVER_EXIT.usage, { cause });
