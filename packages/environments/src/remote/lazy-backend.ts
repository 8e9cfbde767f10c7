import { waitUnlessAborted } from "@codex/clock";
import { type ExecBackend, type ExecProcess, type ProcessSpec, StartError } from "@codex/exec-backend";
import { createRemoteBackend, type ExecServerClient } from "@codex/exec-server-client";
import type { Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/values";

/** A backend that uses the current client of an environment; the first start connects it. */
export function createLazyBackend(getClient: () => Promise<ExecServerClient>, telemetry: Telemetry): ExecBackend {
  const backends = new Map<ExecServerClient, ExecBackend>();
  let closing: Promise<void> | undefined;
  const getBackend = async (): Promise<ExecBackend> => {
    const client = await getClient();
    if (closing !== undefined) throw new StartError("closed", "the process host is shutting down");
    const known = backends.get(client);
    if (known !== undefined) return known;
    // A client that was replaced has lost its session, and its processes with it.
    for (const [, former] of backends) void former.close();
    backends.clear();
    const backend = createRemoteBackend(client, { telemetry });
    backends.set(client, backend);
    return backend;
  };
  return {
    appliesEnvPolicy: true,
    takesNetwork: true,
    async getSandboxSupport() {
      try {
        return (await (await getBackend()).getSandboxSupport?.()) ?? { kind: "none" };
      } catch (error) {
        return { kind: "none", problem: messageOf(error) };
      }
    },
    async start(spec: ProcessSpec, signal?: AbortSignal): Promise<ExecProcess> {
      if (signal === undefined) return (await getBackend()).start(spec);
      const backend = await waitUnlessAborted(signal, getBackend());
      if (backend !== undefined) return backend.start(spec, signal);
      throw new StartError("unreachable", "the exec-server was not reached before the start was given up");
    },
    close() {
      closing ??= Promise.all(Array.from(backends.values(), (backend) => backend.close())).then(() => {});
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
