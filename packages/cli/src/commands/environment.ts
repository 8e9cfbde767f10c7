import { visible } from "@codex/agent-terminal/text";
import { codexHome } from "@codex/config";
import {
  checkEnvironment,
  type Environment,
  type EnvironmentCheck,
  EnvironmentError,
  listConfigured,
  listRegistered,
} from "@codex/environments";
import { type CredentialArguments, readCredentials } from "@codex/servers";
import { loadConfigured } from "../configured-environments.js";
import { openEnvironments } from "../environments.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { print, printJson } from "../notice.js";
import { checkRegistryUrl } from "../registry-url.js";

interface OutputOptions {
  json: boolean;
}

interface ListOptions extends OutputOptions, CredentialArguments {
  /** Base URL of the registry whose executors are listed. */
  registry?: string;
}

/** Prints the executors that are registered at a registry. @throws LinkError */
async function listRegistry(registryUrl: string, json: boolean, credentials: CredentialArguments): Promise<void> {
  checkRegistryUrl("--registry", registryUrl);
  const { token = process.env.CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN ?? "", ca } = readCredentials(credentials);
  const executors = await listRegistered({ registryUrl, token, ca });
  if (json) return void printJson({ executors });
  const rows = executors.map(({ environmentId, name, version, labels, transport, isConnected, harnesses, since }) => [
    environmentId,
    name || "-",
    version || "-",
    transport,
    isConnected ? `since ${since}` : "away",
    `${harnesses} ${harnesses === 1 ? "harness" : "harnesses"}`,
    Object.entries(labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(" "),
  ]);
  if (rows.length === 0) printVisible("no executor is registered");
  else printRows(rows);
}

/** Prints the environments; connects none. @throws EnvironmentsConfigError */
export async function runEnvironmentList({ json, registry, ...credentials }: ListOptions): Promise<void> {
  if (registry !== undefined) return listRegistry(registry, json, credentials);
  const config = await loadConfigured();
  const listed = listConfigured(config);
  if (json) return void printJson({ default: config.default ?? null, environments: listed });
  const rows = listed.map(({ id, kind, target = "this host", place = "", fallback }) => [
    `${id === config.default ? "*" : " "} ${id}`,
    kind,
    fallback === undefined ? target : `${target} (else \`${fallback}\`)`,
    place,
  ]);
  printRows(rows);
  if (config.default === undefined) printVisible("no default: nothing is run without --environment");
  if (config.source.kind === "none") printVisible(`nothing is configured in ${codexHome()}`);
}

/** Connects an environment and describes its host. @throws CommandError, EnvironmentsConfigError */
export async function runEnvironmentInfo(id: string, { json }: OutputOptions): Promise<void> {
  await using environments = openEnvironments(await loadConfigured());
  try {
    const environment = environments.get(id);
    const info = await environment.info();
    const { kind, serves } = environment;
    if (json) return void printJson({ id, kind, serves: serves ?? null, ...info });
    const { os, shell, cwd, home } = info;
    printRows(
      Object.entries({ id, kind, serves: serves ?? "", os, shell: shell.path, cwd, home }).map(([name, value]) => [
        name,
        value,
      ]),
    );
  } catch (error) {
    throw toCommandError(error);
  }
}

/** Connects one environment, or all of them concurrently. @throws CommandError, EnvironmentsConfigError */
export async function runEnvironmentCheck(id: string | undefined, { json }: OutputOptions): Promise<void> {
  const config = await loadConfigured();
  await using environments = openEnvironments(config);
  let chosen: readonly Environment[];
  try {
    chosen = id === undefined ? environments.list() : [environments.get(id)];
  } catch (error) {
    throw toCommandError(error);
  }
  const results = await Promise.all(chosen.map((each) => checkEnvironment(each)));
  if (json) printJson(results);
  else printRows(results.flatMap(renderCheck));
  if (results.some(({ ok }) => !ok)) process.exitCode = EXIT.failure;
}

function renderCheck({
  id,
  kind,
  ok,
  serves,
  connectMs,
  roundTripMs,
  problem = "",
  mend,
}: EnvironmentCheck): string[][] {
  if (!ok) return [["failed", id, kind, problem], ...(mend === undefined ? [] : [["", "", "", mend]])];
  const trip = roundTripMs === undefined ? "" : `, round trip ${roundTripMs} ms`;
  return [["ok", id, kind, `${serves}, connected in ${connectMs} ms${trip}`]];
}

const toCommandError = (error: unknown): unknown => {
  if (!(error instanceof EnvironmentError)) return error;
  return new CommandError(error.message, error.code === "unknown_environment" ? EXIT.usage : EXIT.failure, {
    cause: error,
  });
};

const printVisible = (line: string): boolean => print(`${visible(line)}\n`);

function printRows(rows: readonly (readonly string[])[]): void {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  for (const row of rows)
    printVisible(
      row
        .map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : width(column)))
        .join("  ")
        .trimEnd(),
    );
}
