import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type ConfigReader,
  createConfigReader,
  createEnvironmentInfo,
  createExecServer,
  type ExecServer,
  type ExecServerOptions,
} from "@codex/exec-server";
import type { CapabilityFinder } from "@codex/exec-server/capabilities";
import type { ResourceLimits } from "@codex/executor-protocol";
import { createFileSystem, createPageCacheReader, createSandboxedFiles } from "@codex/host-files";
import { createEntryReader, createNative, createRemoteMounts, NO_LIBRARY, type RemoteMounts } from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { type CommandSandbox, createCommandSandbox } from "@codex/sandbox";
import type { Telemetry } from "@codex/telemetry";
import { defined } from "@codex/values";
import { collectGarbage, keepHeapSmall } from "../process/tune-engine.js";
import { getFileHelper } from "./file-helper.js";
import { WITHOUT_NATIVE } from "./without-native.js";

/** Version of Codex whose protocol this is; reported to clients. */
const COMPATIBLE_VERSION = "0.169.0";

/**
 * An exec-server for this host. Closing it ends everything that its clients have started.
 * @param shared what is shared within this process; default: new ones. `upstreamForPrivate`: as in `LocalBackendOptions`
 */
export async function createLocalExecServer(
  telemetry: Telemetry,
  sessions: NonNullable<ExecServerOptions["sessions"]> = {},
  shared: {
    sandbox?: CommandSandbox | undefined;
    mounts?: RemoteMounts;
    upstreamForPrivate?: boolean;
    limits?: ResourceLimits;
  } = {},
): Promise<{ server: ExecServer; close(): Promise<void> }> {
  const hasNative = !isBundleWithoutNative();
  if (!hasNative)
    telemetry.log?.warn?.("no native code for this host: programs run on pipes only, and can read this process");
  const native = createNative(hasNative ? undefined : NO_LIBRARY, { closeInheritedOnExec: hasNative });
  const mounts = shared.mounts ?? createRemoteMounts();
  const sandbox = shared.sandbox ?? createCommandSandbox({ native, mounts });
  const backend = createLocalBackend({
    shielded: hasNative,
    native,
    telemetry,
    sandbox,
    mounts,
    onFirstStart: keepHeapSmall,
    collectGarbage: () => collectGarbage(),
    upstreamForPrivate: shared.upstreamForPrivate ?? false,
    ...defined({ limits: shared.limits }),
  });
  const info = await createEnvironmentInfo({
    executorVersion: COMPATIBLE_VERSION,
    // Not probed before a client asks for it: that would take longer than starting the server.
    capabilities: [
      "environmentConfigRead",
      "capabilityDiscoveryV2",
      // A shell's state is recorded and restored here: the client never has it.
      "shellSnapshotV2",
      ...(sandbox.isLikely() ? (["sandboxedFileStreaming", "capabilityDiscoverySandbox"] as const) : []),
      // The sandbox has devices of its own, and holds what is denied or read-only below a writable root where it is.
      ...(sandbox.isLikely() && process.platform === "linux"
        ? (["linuxRootWritePreservesDevices", "linuxApprovedRootWritePreservesRestrictions"] as const)
        : []),
      ...(sandbox.mayOpenNetworks() ? (["networkProxyLaunch", "networkProxyReviewDomains"] as const) : []),
    ],
  });
  const sandboxed = createSandboxedFiles({ sandbox, getHelper: getFileHelper });
  const pageCache = createPageCacheReader();
  const fileSystem = createFileSystem({ sandboxed, pageCache, entries: createEntryReader(), mounts });
  const environment = { info, config: createLazyConfigReader(), capabilities: createLazyCapabilityFinder() };
  const server = createExecServer({ backend, environment, fileSystem, telemetry, sessions });
  return {
    server,
    async close() {
      await server.close();
      await backend.close();
      await pageCache.close();
    },
  };
}

/** Whether this server was sent to a host for which there is no native code. If it is merely missing, nothing runs unshielded. */
const isBundleWithoutNative = (): boolean => existsSync(join(dirname(process.argv[1]!), WITHOUT_NATIVE));

/** What is installed for agents is read when a client first asks for it. */
function createLazyCapabilityFinder(): CapabilityFinder {
  let finder: Promise<CapabilityFinder> | undefined;
  const load = async () => {
    const [{ createCapabilityFinder }, { parse }] = await Promise.all([
      import("@codex/exec-server/capabilities"),
      import("yaml"),
    ]);
    return createCapabilityFinder({ parseYaml: (text) => parse(text, { maxAliasCount: 0 }) });
  };
  return {
    async discover(params, files) {
      finder ??= load();
      return (await finder).discover(params, files);
    },
  };
}

/** TOML is read when a client first asks for it. */
function createLazyConfigReader(): ConfigReader {
  let reader: Promise<ConfigReader> | undefined;
  const load = async () => {
    const { parse, stringify } = await import("smol-toml");
    return createConfigReader({
      toml: {
        parse: (text) => parse(text, { integersAsBigInt: true }),
        stringify: (table) => stringify(table, { numbersAsFloat: true }),
      },
    });
  };
  return {
    async read(params) {
      reader ??= load();
      return (await reader).read(params);
    },
  };
}
