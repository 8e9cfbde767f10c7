import type { AgentFiles } from "@codex/agent";
import type { Environment } from "@codex/environments";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { readCredentials } from "@codex/servers";
import { messageOf } from "@codex/values";
import { createAddressEnvironment } from "../address-environment.js";
import { attachExecutor, type ConnectOptions } from "../connect.js";
import type { ChosenEnvironment } from "../environments.js";
import { describeAddress, parseExecutorAddress } from "../executor-address.js";
import { CommandError } from "../exit-codes.js";
import { say } from "../notice.js";
import { createOwnEnvironment } from "../own-environment.js";
import type { OwnExecutorOptions } from "../own-executor.js";
import { addOtherEnvironments } from "./other-environments.js";

/** Where the calls of an agent run: an executor and its files. */
export interface Place {
  /** Of the default environment; its `host` is undefined before it is attached, and `offlineReason` says why it is not. */
  readonly executor: Pick<AttachedExecutor, "name" | "host" | "offlineReason">;
  readonly files: AgentFiles;
  /** Whether it is this host. */
  readonly isOwn: boolean;
  /** Returns the environment with this id. @throws CommandError when this run does not use it */
  getEnvironment(id: string): Environment;
  /** Ids of the environments that calls may use, the default first; undefined: only that of `executor`, which cannot be named. */
  readonly ids: readonly string[] | undefined;
  /** Closes its resources. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the selected environment or address, or by default this host. If a default environment cannot be connected,
 * each call that needs it retries the connection.
 * @param own the executor in this process, if calls run on this host
 * @throws CommandError when a named one cannot be reached
 */
export async function openPlace(
  orchestrator: Pick<Orchestrator, "attach" | "addEnvironment" | "executors">,
  options: ConnectOptions,
  chosen: ChosenEnvironment | undefined,
  own: OwnExecutorOptions,
  policyOfOthers: (id: string) => Promise<PolicyOptions>,
): Promise<Place> {
  if (chosen?.default === "none") return { ...placeOf(chosen, orchestrator), ids: [] };
  const place = await openPrimary(orchestrator, options, chosen, own);
  const adding = addOtherEnvironments(orchestrator, place.executor.name, options, policyOfOthers, own);
  const others = await adding.catch(async (error: unknown) => {
    await place.close();
    throw error;
  });
  const list = others?.list ?? [];
  return {
    ...place,
    ids: others === undefined ? undefined : [place.executor.name, ...list.map(({ id }) => id)],
    getEnvironment: (id) => list.find((environment) => environment.id === id) ?? place.getEnvironment(id),
    async close() {
      await place.close();
      await others?.close();
    },
  };
}

async function openPrimary(
  orchestrator: Pick<Orchestrator, "attach" | "addEnvironment" | "executors">,
  options: ConnectOptions,
  chosen: ChosenEnvironment | undefined,
  own: OwnExecutorOptions,
): Promise<Omit<Place, "ids">> {
  if (chosen?.default !== undefined && chosen.default !== "none") {
    const { fallback } = chosen.default;
    orchestrator.addEnvironment(chosen.environment, fallback === undefined ? {} : { fallback });
    await attachExecutor(orchestrator, chosen.environment.id, options, {}, chosen).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      const instead =
        fallback === undefined ? "what needs it fails until it is back" : `its fallback is \`${fallback}\``;
      say(`${error.message}; ${instead}`);
    });
    return placeOf(chosen, orchestrator);
  }
  if (chosen !== undefined) {
    const executor = await attachExecutor(orchestrator, chosen.environment.id, options, {}, chosen);
    const { environment } = chosen;
    return { executor, files: environment.files, isOwn: false, ...having(environment), close: () => chosen.close() };
  }
  if (options.executor === undefined) return openOwn(orchestrator, options, own);
  const address = parseExecutorAddress(options.executor, "--executor");
  const environment = createAddressEnvironment("remote", address, readCredentials(options));
  try {
    const executor = await environment.attach(orchestrator);
    const close = () => environment.close();
    return { executor, files: environment.files, isOwn: false, ...having(environment), close };
  } catch (cause) {
    await environment.close();
    throw new CommandError(`no executor at ${describeAddress(options.executor)}: ${messageOf(cause)}`, 1, { cause });
  }
}

/** The place of a default environment that need not be attached. */
function placeOf(
  { environment, close }: ChosenEnvironment,
  orchestrator: Pick<Orchestrator, "executors">,
): Omit<Place, "ids"> {
  const { id: name, files } = environment;
  const find = () => orchestrator.executors.find((executor) => executor.name === name);
  const executor = {
    name,
    get host() {
      return find()?.host;
    },
    get offlineReason() {
      const found = find();
      return found === undefined ? (environment.state.reason ?? "it is not connected") : found.offlineReason;
    },
  };
  return { executor, files, isOwn: false, ...having(environment), close };
}

const having = (...environments: readonly Environment[]): Pick<Place, "getEnvironment"> => ({
  getEnvironment(id) {
    const found = environments.find((environment) => environment.id === id);
    if (found !== undefined) return found;
    throw new CommandError(`environment \`${id}\` is not one of this run`);
  },
});

async function openOwn(
  orchestrator: Pick<Orchestrator, "attach">,
  options: ConnectOptions,
  own: OwnExecutorOptions,
): Promise<Omit<Place, "ids">> {
  const environment = createOwnEnvironment(own);
  // Files are read before the first request: they are opened while the executor waits for the trial run of its sandbox.
  environment.connect().catch(() => {}); // the first file call says what failed
  try {
    const executor = await attachExecutor(orchestrator, "local", options, own);
    return {
      executor,
      files: environment.files,
      isOwn: true,
      ...having(environment),
      close: () => environment.close(),
    };
  } catch (error) {
    await environment.close();
    throw error;
  }
}
