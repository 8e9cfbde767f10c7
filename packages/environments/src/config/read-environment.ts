import { isAbsolute, join, resolve } from "node:path";
import type { ResourceLimits } from "@codex/executor-protocol";
import { defined, parseByteSize } from "@codex/values";
import { CONNECT_TIMEOUT_MS, INITIALIZE_TIMEOUT_MS } from "../limits.js";
import { createProblem, type Section, showType, showValue } from "./config-error.js";
import type { ConfiguredEnvironment, TokenSource } from "./environment-config.js";
import {
  isTable,
  readFlag,
  readSeconds,
  readText,
  readTexts,
  readTextTable,
  refuseUnknown,
  trimBlanks,
} from "./fields.js";
import { readSshUrl } from "./ssh-url.js";
import { findUrlProblem, isLoopback } from "./ws-url.js";

/** The format of a file: `codex` for the file shared with Codex, `ours` for `environments-ts.toml`, which has more keys. */
export type Dialect = "codex" | "ours";

const CODEX_KEYS = [
  "id",
  "skills",
  "url",
  "auth_bearer_token",
  "program",
  "args",
  "env",
  "cwd",
  "connect_timeout_sec",
  "initialize_timeout_sec",
];

/** Keys of `environments-ts.toml` for an environment behind a registry. */
const REGISTRY_KEYS = ["registry", "environment", "labels"];

/** Keys of `environments-ts.toml` that extend an environment of either file. */
export const OUR_KEYS = [
  "auth_bearer_token_file",
  "auth_bearer_token_env",
  "ca_file",
  "fallback",
  "eager",
  "env_inherit",
  "permission_profile",
  "limits",
];

const ELSEWHERE = Object.fromEntries([
  ...OUR_KEYS.map((key) => [key, `Codex does not know it; put it into environments-ts.toml, below [extend.ID]`]),
  ...REGISTRY_KEYS.map((key) => [key, "Codex does not know it; put this environment into environments-ts.toml"]),
]);

/** Reads one `[[environments]]`; relative paths are resolved against `home`. @throws EnvironmentsConfigError */
export function readEnvironment(section: Section, dialect: Dialect, home: string): ConfiguredEnvironment {
  if (dialect === "codex") refuseUnknown(section, CODEX_KEYS, ELSEWHERE);
  else refuseUnknown(section, [...CODEX_KEYS, ...REGISTRY_KEYS, ...OUR_KEYS]);
  const id = readId(section);
  const url = readText(section, "url");
  const program = readText(section, "program");
  const registry = dialect === "ours" ? readText(section, "registry") : undefined;
  const given = [url, program, registry].filter((value) => value !== undefined).length;
  if (given !== 1) {
    const both = given === 0 ? "" : ", not both";
    const ours = registry === undefined ? "" : ", or `registry` alone";
    throw createProblem(section, undefined, `environment \`${id}\` needs either \`url\` or \`program\`${both}${ours}`);
  }
  const initializeTimeoutMs = readSeconds(section, "initialize_timeout_sec") ?? INITIALIZE_TIMEOUT_MS;
  const common = {
    id,
    // Read on demand: each start of a command reads all environments.
    get place() {
      const line = section.findPlace(section.path)?.line;
      return `${section.file}${line === undefined ? "" : `:${line}`}`;
    },
    initializeTimeoutMs,
    requiredSkills: readSkills(section),
  };
  if (registry !== undefined) {
    return readAdditions(section, Object.assign(common, readRegistry(section, registry, id)), home);
  }
  for (const key of dialect === "ours" ? ["environment", "labels"] : []) {
    if (section.table[key] !== undefined) throw misplaced(section, key, "needs `registry`");
  }
  const read =
    url === undefined
      ? Object.assign(common, readCommand(section, program ?? "", home))
      : Object.assign(common, readAddress(section, url, dialect));
  return dialect === "ours" ? readAdditions(section, read, home) : read;
}

/**
 * Applies the extension of an environment in `environments-ts.toml`.
 * @throws EnvironmentsConfigError
 */
export function readAdditions(section: Section, to: ConfiguredEnvironment, home: string): ConfiguredEnvironment {
  const fallback = readText(section, "fallback");
  const eager = readFlag(section, "eager");
  const token = readTokenSource(section, to, home);
  const caFile = readText(section, "ca_file");
  const envInherit = readTexts(section, "env_inherit");
  const permissionProfile = readProfile(section);
  if (caFile !== undefined && to.kind !== "websocket" && to.kind !== "noise")
    throw misplaced(section, "ca_file", "needs a wss:// `url`");
  if (caFile !== undefined && to.kind === "websocket" && !to.url.startsWith("wss://")) {
    throw createProblem(section, "ca_file", "needs a wss:// `url`: nothing else has certificates", showValue(caFile));
  }
  if (envInherit !== undefined && to.kind !== "command") throw misplaced(section, "env_inherit", "needs `program`");
  if (fallback === to.id) throw createProblem(section, "fallback", "names the environment itself", showValue(fallback));
  return {
    ...to,
    ...defined({ fallback, eager, token, permissionProfile, limits: readLimits(section) }),
    ...(caFile === undefined ? {} : { caFile: resolve(home, caFile) }),
    ...defined({ envInherit }),
  };
}

function readProfile(section: Section): ConfiguredEnvironment["permissionProfile"] {
  const name = readText(section, "permission_profile");
  if (name === undefined) return undefined;
  if (name === "")
    throw createProblem(section, "permission_profile", "expected the name of a profile", showValue(name));
  const { line } = section.findPlace([...section.path, "permission_profile"]) ?? {};
  return { name, file: section.file, ...defined({ line }) };
}

/** A table of `memory` and `disk` (sizes), `cpus`, `processes`, `open_files`, `time`. */
function readLimits(section: Section): ResourceLimits | undefined {
  const table = section.table.limits;
  if (table === undefined) return undefined;
  const refuse = (rule: string) => createProblem(section, "limits", rule, showValue(table));
  if (typeof table !== "object" || table === null || Array.isArray(table)) throw refuse("expected a table of limits");
  const limits: ResourceLimits = {};
  for (const [key, value] of Object.entries(table)) {
    const name = LIMITS[key];
    if (name === undefined) throw refuse(`\`${key}\` is no limit; expected ${Object.keys(LIMITS).join(", ")}`);
    const isSize = name === "memory" || name === "disk";
    const number = typeof value === "string" ? (isSize ? parseByteSize(value) : undefined) : Number(value);
    const isValid =
      number !== undefined &&
      number > 0 &&
      (name === "cpus" || Number.isSafeInteger(number)) &&
      typeof value !== "boolean";
    if (!isValid)
      throw refuse(
        `\`${key}\` is ${showValue(value)}; expected ${isSize ? 'a size such as "2G"' : "a number above 0"}`,
      );
    limits[name] = number;
  }
  return limits;
}

const LIMITS: Readonly<Record<string, keyof ResourceLimits>> = {
  memory: "memory",
  cpus: "cpus",
  processes: "processes",
  open_files: "openFiles",
  disk: "disk",
  time: "time",
};

function readId(section: Section): string {
  const id = readText(section, "id");
  if (id === undefined) throw createProblem(section, undefined, "each environment needs an `id`");
  const refuse = (rule: string) => createProblem(section, "id", rule, showValue(id));
  if (id === "") throw refuse("expected 1 to 64 letters, digits, - and _");
  if (!/^[A-Za-z0-9_-]+$/.test(id)) throw refuse("expected ASCII letters, digits, - and _ only, without blanks");
  if (id.length > MAX_ID_BYTES) throw refuse(`it has ${id.length} bytes; at most ${MAX_ID_BYTES} are allowed`);
  if (id === "local" || id.toLowerCase() === "none") throw refuse("this id is reserved");
  return id;
}

const MAX_ID_BYTES = 64;

/** The error for a key whose value may be secret: only its type is shown. */
const misplaced = (section: Section, key: string, rule: string) =>
  createProblem(section, key, rule, showType(section.table[key]));

function readAddress(section: Section, given: string, dialect: Dialect) {
  for (const key of ["args", "env", "cwd"]) {
    if (section.table[key] !== undefined) throw misplaced(section, key, "needs `program`, and this has a `url`");
  }
  const connectTimeoutMs = readSeconds(section, "connect_timeout_sec") ?? CONNECT_TIMEOUT_MS;
  const url = trimBlanks(given);
  if (url === "")
    throw createProblem(section, "url", "expected a URL that begins with ws:// or wss://", showValue(given));
  const literal = readText(section, "auth_bearer_token", true);
  if (url.startsWith("ssh://")) {
    if (dialect === "codex") {
      throw createProblem(
        section,
        "url",
        "Codex does not know ssh://; put this environment into environments-ts.toml",
        showValue(url),
      );
    }
    if (literal !== undefined) throw misplaced(section, "auth_bearer_token", "needs a ws:// or wss:// `url`");
    const problem = readSshUrl(url);
    if (typeof problem === "string") throw createProblem(section, "url", problem, showValue(url));
    return { kind: "ssh" as const, url, connectTimeoutMs };
  }
  const problem = findUrlProblem(url);
  if (problem !== undefined) throw createProblem(section, "url", problem, showValue(url));
  if (literal === undefined) return { kind: "websocket" as const, url, connectTimeoutMs };
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(literal)) {
    throw misplaced(section, "auth_bearer_token", "a control character is in it, which no HTTP header can carry");
  }
  checkConfidential(section, "auth_bearer_token", url);
  return { kind: "websocket" as const, url, connectTimeoutMs, token: { kind: "literal" as const, token: literal } };
}

function checkConfidential(section: Section, key: string, url: string): void {
  if (/^(?:wss|https):\/\//.test(url) || isLoopback(url)) return;
  const needed = url.startsWith("http") ? "an https:// `registry`" : "a wss:// `url`";
  throw misplaced(section, key, `the token would travel unencrypted: it needs ${needed}, or one of this host`);
}

/** `environment` defaults to the id; with `labels` alone any environment will do. */
function readRegistry(section: Section, given: string, id: string) {
  for (const key of ["args", "env", "cwd", "connect_timeout_sec"]) {
    if (section.table[key] !== undefined) throw misplaced(section, key, "is not used with `registry`");
  }
  const registryUrl = trimBlanks(given);
  if (!/^https?:\/\/[^/]/.test(registryUrl) || !URL.canParse(registryUrl)) {
    throw createProblem(section, "registry", "expected an https:// or http:// URL", showValue(given));
  }
  const labels = readTextTable(section, "labels");
  const environmentId = readText(section, "environment") ?? (labels === undefined ? id : "");
  if (!/^[A-Za-z0-9_-]{0,256}$/.test(environmentId)) {
    const rule = "expected 1 to 256 letters, digits, - and _";
    throw createProblem(section, "environment", rule, showValue(environmentId));
  }
  const literal = readText(section, "auth_bearer_token", true);
  if (literal !== undefined) checkConfidential(section, "auth_bearer_token", registryUrl);
  return {
    kind: "noise" as const,
    registryUrl,
    environmentId,
    ...defined({ labels }),
    ...(literal === undefined ? {} : { token: { kind: "literal" as const, token: literal } }),
  };
}

function readCommand(section: Section, given: string, home: string) {
  for (const key of ["auth_bearer_token", "connect_timeout_sec"]) {
    if (section.table[key] === undefined) continue;
    // As with a URL, a value of a wrong type is a separate error.
    if (key === "connect_timeout_sec") readSeconds(section, key);
    throw misplaced(section, key, "needs `url`, and this has a `program`");
  }
  const program = trimBlanks(given);
  if (program === "")
    throw createProblem(section, "program", "expected the name or path of a program", showValue(given));
  const args = readTexts(section, "args") ?? [];
  const env = readTextTable(section, "env") ?? {};
  const cwd = readText(section, "cwd") ?? "";
  return {
    kind: "command" as const,
    program,
    args,
    env,
    cwd: isAbsolute(cwd) ? cwd : join(home, cwd),
    envInherit: [] as readonly string[],
  };
}

/** Like Codex, also accepts an array instead of the table: its first element is `required`. */
function readSkills(section: Section): readonly string[] {
  const given = section.table.skills;
  if (given === undefined) return [];
  const table = Array.isArray(given) ? (given.length === 0 ? {} : { required: given[0] }) : given;
  if (!isTable(table)) throw misplaced(section, "skills", "expected a table with `required`, a list of names");
  const skills: Section = { ...section, table, path: [...section.path, "skills"] };
  refuseUnknown(skills, ["required"]);
  return readTexts(skills, "required") ?? [];
}

function readTokenSource(section: Section, to: ConfiguredEnvironment, home: string): TokenSource | undefined {
  const file = readText(section, "auth_bearer_token_file");
  const name = readText(section, "auth_bearer_token_env");
  if (file === undefined && name === undefined) return undefined;
  const key = file === undefined ? "auth_bearer_token_env" : "auth_bearer_token_file";
  if (to.kind !== "websocket" && to.kind !== "noise") {
    throw misplaced(section, key, "needs a ws:// or wss:// `url`");
  }
  if (to.token !== undefined || (file !== undefined && name !== undefined)) {
    throw misplaced(section, key, `environment \`${to.id}\` has another bearer token already`);
  }
  checkConfidential(section, key, to.kind === "noise" ? to.registryUrl : to.url);
  if (file !== undefined) return { kind: "file", file: resolve(home, file) };
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name ?? "")) return { kind: "variable", name: name ?? "" };
  throw createProblem(section, key, "expected the name of an environment variable", showValue(name));
}
