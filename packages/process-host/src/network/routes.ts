import { execFile } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { StartError } from "@codex/exec-backend";
import type { NetworkRoute, Sandbox } from "@codex/executor-protocol";
import {
  type CompiledNetworkPolicy,
  compileRoute,
  type NetworkRule,
  nameOfRoute,
  withoutFinalSlashes,
} from "@codex/network-policy";
import type { Route } from "@codex/network-proxy";
import { messageOf } from "@codex/values";
import { MAX_SECRET_BYTES, SECRET_COMMAND_MS, SECRET_FOR_MS } from "../limits.js";

type Env = Readonly<Record<string, string | undefined>>;

/** @throws PatternError for a route that is none, StartError for a file of certificates that cannot be read */
export function createRoutes(
  routes: readonly NetworkRoute[],
  createPolicy: (rule: NetworkRule) => CompiledNetworkPolicy,
  env: Env,
): Route[] {
  return routes.map((route) => {
    const { header = "Authorization", caFile } = route;
    const secret = new Secret(route.secret, env);
    return {
      target: compileRoute(route, createPolicy),
      ca: caFile === undefined ? undefined : readCertificates(caFile, route.name),
      getHeader: async () => [header, renderSecret(route, await secret.get())],
      forgetSecret: () => secret.forget(),
    };
  });
}

/** What is read is used for a while, by all requests that wait for it. */
class Secret {
  readonly #source: NetworkRoute["secret"];
  readonly #env: Env;
  #known: { value: Promise<string>; until: number } | undefined;

  constructor(source: NetworkRoute["secret"], env: Env) {
    this.#source = source;
    this.#env = env;
  }

  get(): Promise<string> {
    if (this.#known === undefined || this.#known.until < performance.now()) {
      const value = readSecret(this.#source, this.#env);
      this.#known = { value, until: performance.now() + SECRET_FOR_MS };
      value.catch(() => this.forget());
    }
    return this.#known.value;
  }

  forget(): void {
    this.#known = undefined;
  }
}

/** Rejects where there is none; what a message of the system says is not shown to anybody. */
async function readSecret(source: NetworkRoute["secret"], env: Env): Promise<string> {
  const text = await readSource(source, env);
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "" || /[\0-\x1f\x7f]/.test(secret)) throw new Error("it is empty, or has control characters");
  return secret;
}

async function readSource(source: NetworkRoute["secret"], env: Env): Promise<string> {
  if (source.kind === "variable") return env[source.name] ?? "";
  if (source.kind === "file") {
    const bytes = await readFile(expand(source.path));
    if (bytes.length > MAX_SECRET_BYTES)
      throw new Error(`it has ${bytes.length} bytes; at most ${MAX_SECRET_BYTES} are read`);
    return bytes.toString();
  }
  const [program, ...args] = source.argv;
  const options = { env, timeout: SECRET_COMMAND_MS, maxBuffer: MAX_SECRET_BYTES, killSignal: "SIGKILL" } as const;
  return (await promisify(execFile)(program!, args, options)).stdout;
}

function renderSecret({ scheme = "bearer", user = "x-access-token" }: NetworkRoute, secret: string): string {
  switch (scheme) {
    case "bearer":
      return `Bearer ${secret}`;
    case "basic":
      return `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
    case "token":
      return `token ${secret}`;
    case "plain":
      return secret;
  }
}

const expand = (path: string): string => (path.startsWith("~/") ? join(homedir(), path.slice(2)) : path);

function readCertificates(path: string, name: string): string {
  try {
    return readFileSync(expand(path), "utf8");
  } catch (cause) {
    const problem = `network route "${name}": its certificates ${path} cannot be read: ${messageOf(cause)}`;
    throw new StartError("sandbox_invalid", problem, { cause });
  }
}

/**
 * The environment of a command without the secrets of its routes, by whatever name, and with what leads programs to them.
 * @param own the environment that has the secrets
 */
export function withRoutes(
  routes: readonly NetworkRoute[],
  env: Readonly<Record<string, string>>,
  own: Env,
): Record<string, string> {
  const names = routes.flatMap(({ secret }) => (secret.kind === "variable" ? [secret.name] : []));
  const values = names.map((name) => own[name] ?? "").filter((value) => value.length >= MIN_HIDDEN_LENGTH);
  const isSecret = ([name, value]: [string, string]) =>
    names.includes(name) || values.some((secret) => value.includes(secret));
  const kept = Object.fromEntries(Object.entries(env).filter((entry) => !isSecret(entry)));
  for (const { name, url, tools = [] } of routes) {
    const base = `http://${nameOfRoute(name)}`;
    if (tools.includes("git")) addGitSettings(kept, base, url);
    if (tools.includes("npm")) kept.npm_config_registry = `${base}/`;
    if (tools.includes("pip"))
      Object.assign(kept, { PIP_INDEX_URL: `${base}/simple`, PIP_TRUSTED_HOST: nameOfRoute(name) });
  }
  return kept;
}

/** A shorter secret may be part of anything. */
const MIN_HIDDEN_LENGTH = 8;

/** URLs of the host, over https and ssh, are those of the route to git. */
function addGitSettings(env: Record<string, string>, base: string, url: string): void {
  const { host, hostname, pathname } = new URL(url);
  const path = withoutFinalSlashes(pathname);
  const plain = path.slice(1);
  const replaced = [
    `https://${host}${path}/`,
    `ssh://git@${hostname}${path}/`,
    `git@${hostname}:${plain === "" ? "" : `${plain}/`}`,
  ];
  let count = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  for (const each of replaced) {
    env[`GIT_CONFIG_KEY_${count}`] = `url.${base}/.insteadOf`;
    env[`GIT_CONFIG_VALUE_${count}`] = each;
    count += 1;
  }
  env.GIT_CONFIG_COUNT = `${count}`;
}

/** The sandbox of a command, in which files with secrets of its routes cannot be read. @throws StartError where that cannot be held */
export function hideSecrets(routes: readonly NetworkRoute[], sandbox: Sandbox): Sandbox {
  const files = routes.flatMap(({ name, secret }) =>
    secret.kind === "file" ? [{ name, path: expand(secret.path) }] : [],
  );
  const { permissions } = sandbox;
  if (files.length === 0) return sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") {
    const problem = `network route "${files[0]!.name}": the command could read its secret, as its sandbox limits no files`;
    throw new StartError("sandbox_invalid", problem);
  }
  const denied = files.flatMap(({ path }) => [...new Set([path, realPath(path)])].map(toDenied));
  const { file_system } = permissions;
  return {
    ...sandbox,
    permissions: { ...permissions, file_system: { ...file_system, entries: [...file_system.entries, ...denied] } },
  };
}

const toDenied = (path: string) => ({ path: { type: "path" as const, path }, access: "deny" as const });

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // there is none: the route tells it when it is used
  }
}
