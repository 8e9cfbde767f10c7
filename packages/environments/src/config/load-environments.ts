import { join } from "node:path";
import { readTomlFile, TomlFileError } from "@codex/toml";
import { defined } from "@codex/values";
import { CONNECT_TIMEOUT_MS, INITIALIZE_TIMEOUT_MS } from "../limits.js";
import { createProblem, EnvironmentsConfigError, type Section, showType, showValue } from "./config-error.js";
import type { ConfigSource, ConfiguredEnvironment, ConfiguredNoise, EnvironmentsConfig } from "./environment-config.js";
import { isTable, readFlag, readTable, readText, refuseUnknown, trimBlanks } from "./fields.js";
import { type Dialect, OUR_KEYS, readAdditions, readEnvironment } from "./read-environment.js";

/** Name of the file that Codex also reads. */
export const ENVIRONMENTS_FILE = "environments.toml";
/** Name of the file with the additions of this project, which Codex does not read. */
export const OUR_ENVIRONMENTS_FILE = "environments-ts.toml";

/** The sources of configuration. */
export interface EnvironmentsSources {
  /** `$CODEX_HOME`. */
  home: string;
  /** Environment variables: `CODEX_EXEC_SERVER_URL` and `CODEX_EXEC_SERVER_NOISE_*`. */
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The configured environments, from the same source as in Codex 0.169.0: the three registry variables, else
 * `environments.toml`, else `CODEX_EXEC_SERVER_URL`, else `local` alone. `environments-ts.toml` adds to the latter three.
 * Connects nothing. @throws EnvironmentsConfigError
 */
export async function loadEnvironments({ home, env }: EnvironmentsSources): Promise<EnvironmentsConfig> {
  const noise = readNoise(env);
  if (noise !== undefined) {
    const source = { kind: "variable", name: NOISE.registryUrl } as const;
    return { environments: [noise], includeLocal: false, default: noise.id, source };
  }
  const codex = await readFile(join(home, ENVIRONMENTS_FILE), "codex", home);
  const ours = await readFile(join(home, OUR_ENVIRONMENTS_FILE), "ours", home);
  const base = codex === undefined ? fromUrl(env.CODEX_EXEC_SERVER_URL, ours) : { ...codex, isDecided: true };
  if (ours === undefined) return decide(base, base.environments, undefined);
  checkOnce(ours, codex);
  const environments = extend([...base.environments, ...ours.environments], ours, home);
  const merged = {
    ...base,
    includeLocal: codex?.includeLocal ?? (base.isDecided ? base.includeLocal : (ours.includeLocal ?? true)),
    defaultSection: base.default !== undefined || base.isDisabled ? base.defaultSection : ours.defaultSection,
    default: base.default ?? (base.isDisabled ? undefined : ours.default),
    isDisabled: base.isDisabled || (base.default === undefined && ours.isDisabled),
    source: base.source.kind === "none" ? ours.source : base.source,
  };
  return decide(merged, environments, ours);
}

/** The settings of one file or environment variable. */
interface Statement {
  environments: readonly ConfiguredEnvironment[];
  includeLocal: boolean | undefined;
  /** As written; `none` is represented by `isDisabled`. */
  default: string | undefined;
  isDisabled: boolean;
  source: ConfigSource;
  /** The section with `default`, for errors. */
  defaultSection?: Section | undefined;
  /** `[[environments]]`, in the same order. */
  sections?: readonly Section[];
  /** `[extend]` by id; our own file only. */
  extensions?: ReadonlyMap<string, Section>;
}

async function readFile(file: string, dialect: Dialect, home: string): Promise<Statement | undefined> {
  const top = await openFile(file);
  if (top === undefined) return undefined;
  refuseUnknown(top, ["default", "include_local", "environments", ...(dialect === "ours" ? ["extend"] : [])]);
  const includeLocal = readFlag(top, "include_local");
  const sections = listSections(top);
  const environments = sections.map((section) => readEnvironment(section, dialect, home));
  checkUnique(environments, sections);
  const extensions = dialect === "ours" ? readExtensions(top) : new Map<string, Section>();
  const written = readText(top, "default");
  const name = written === undefined ? undefined : trimBlanks(written);
  if (name === "")
    throw createProblem(top, "default", "expected the id of an environment, or none", showValue(written));
  const isDisabled = name?.toLowerCase() === "none";
  return {
    environments,
    includeLocal,
    default: isDisabled ? undefined : name,
    isDisabled,
    source: { kind: "file", file },
    defaultSection: top,
    sections,
    extensions,
  };
}

async function openFile(file: string): Promise<Section | undefined> {
  try {
    const read = await readTomlFile(file);
    return read === undefined ? undefined : { file, table: read.table, path: [], findPlace: read.findPlace };
  } catch (error) {
    if (!(error instanceof TomlFileError)) throw error;
    const { line } = error;
    throw new EnvironmentsConfigError({ file, ...defined({ line }), rule: error.reason });
  }
}

function listSections(top: Section): Section[] {
  const given = top.table.environments;
  if (given === undefined) return [];
  const rule = "expected a list of tables: each environment begins with [[environments]]";
  if (!Array.isArray(given)) throw createProblem(top, "environments", rule, showType(given));
  return given.map((table: unknown, index) => {
    const section = { file: top.file, path: ["environments", index], findPlace: top.findPlace };
    if (!isTable(table)) throw createProblem({ ...section, table: {} }, undefined, rule, showType(table));
    return { ...section, table };
  });
}

function checkUnique(environments: readonly ConfiguredEnvironment[], sections: readonly Section[]): void {
  const known = new Map<string, ConfiguredEnvironment>();
  for (const [index, environment] of environments.entries()) {
    const { id } = environment;
    const former = known.get(id);
    if (former !== undefined)
      throw createProblem(sections[index]!, "id", `another environment has it, at ${former.place}`, showValue(id));
    known.set(id, environment);
  }
}

function readExtensions(top: Section): Map<string, Section> {
  const extensions = new Map<string, Section>();
  const section = { ...top, table: readTable(top, "extend") ?? {}, path: ["extend"] };
  for (const id of Object.keys(section.table)) {
    const extension = { ...section, table: readTable(section, id) ?? {}, path: ["extend", id] };
    refuseUnknown(extension, OUR_KEYS);
    extensions.set(id, extension);
  }
  return extensions;
}

/** `environments-ts.toml` may only set what `environments.toml` leaves unset. */
function checkOnce(ours: Statement, codex: Statement | undefined): void {
  if (codex === undefined) return;
  const stated = {
    default: codex.default !== undefined || codex.isDisabled,
    include_local: codex.includeLocal !== undefined,
  };
  const said = {
    default: ours.default !== undefined || ours.isDisabled,
    include_local: ours.includeLocal !== undefined,
  };
  for (const key of ["default", "include_local"] as const) {
    if (stated[key] && said[key])
      throw createProblem(
        ours.defaultSection!,
        key,
        `${ENVIRONMENTS_FILE} has it already, and decides`,
        showValue(ours.defaultSection!.table[key]),
      );
  }
  const known = new Map(codex.environments.map((environment) => [environment.id, environment]));
  for (const [index, { id }] of ours.environments.entries()) {
    const former = known.get(id);
    if (former !== undefined) {
      throw createProblem(
        ours.sections![index]!,
        "id",
        `another environment has it, at ${former.place}; [extend.${id}] adds to that one`,
        showValue(id),
      );
    }
  }
}

function extend(environments: ConfiguredEnvironment[], { extensions = new Map() }: Statement, home: string) {
  for (const [id, section] of extensions) {
    const index = environments.findIndex((each) => each.id === id);
    if (index === -1) throw createProblem(section, undefined, "there is no such environment to add to");
    environments[index] = readAdditions(section, environments[index]!, home);
  }
  return environments;
}

/** `CODEX_EXEC_SERVER_URL`, which applies if there is no `environments.toml`. */
function fromUrl(given: string | undefined, ours: Statement | undefined): Statement & { isDecided: boolean } {
  const url = trimBlanks(given ?? "");
  const name = "CODEX_EXEC_SERVER_URL";
  const nothing = { environments: [], includeLocal: undefined, default: undefined, isDisabled: false };
  if (url === "") return { ...nothing, source: { kind: "none" }, isDecided: false };
  const source = { kind: "variable", name } as const;
  if (url.toLowerCase() === "none")
    return { ...nothing, includeLocal: false, isDisabled: true, source, isDecided: true };
  // Not validated, as in Codex: an invalid URL is reported on connecting.
  const common = { id: "remote", place: name, initializeTimeoutMs: INITIALIZE_TIMEOUT_MS, requiredSkills: [] };
  const remote = { ...common, kind: "websocket", url, connectTimeoutMs: CONNECT_TIMEOUT_MS } as const;
  const clash = ours?.environments.findIndex(({ id }) => id === remote.id) ?? -1;
  if (clash !== -1)
    throw createProblem(ours!.sections![clash]!, "id", `${name} makes an environment of this id`, showValue("remote"));
  return {
    environments: [remote],
    includeLocal: false,
    default: remote.id,
    isDisabled: false,
    source,
    isDecided: true,
  };
}

/** Chooses the default, and checks all references to environments. */
function decide(
  { includeLocal = true, default: named, isDisabled, source, defaultSection }: Statement,
  environments: readonly ConfiguredEnvironment[],
  ours: Statement | undefined,
): EnvironmentsConfig {
  const ids = [...(includeLocal ? ["local"] : []), ...environments.map(({ id }) => id)];
  if (named !== undefined && !ids.includes(named)) {
    throw createProblem(defaultSection!, "default", describeUnknown(ids), showValue(named));
  }
  if (ours !== undefined) checkFallbacks(environments, ids, ours);
  const standard = isDisabled ? undefined : (named ?? (includeLocal ? "local" : undefined));
  return { environments, includeLocal, default: standard, source };
}

const describeUnknown = (ids: readonly string[]): string => {
  const known = ids.length === 0 ? "there is none" : `there is ${ids.map((id) => `\`${id}\``).join(", ")}`;
  return `no environment has this id; ${known}`;
};

/** Fallbacks are set only in `environments-ts.toml`: in its environments or its extensions. */
function checkFallbacks(
  environments: readonly ConfiguredEnvironment[],
  ids: readonly string[],
  { environments: own, sections = [], extensions }: Statement,
): void {
  for (const { id, fallback } of environments) {
    if (fallback === undefined || ids.includes(fallback)) continue;
    const extension = extensions?.get(id);
    const section =
      extension?.table.fallback === undefined ? sections[own.findIndex((each) => each.id === id)] : extension;
    throw createProblem(section!, "fallback", describeUnknown(ids), showValue(fallback));
  }
}

const NOISE = {
  registryUrl: "CODEX_EXEC_SERVER_NOISE_REGISTRY_URL",
  environmentId: "CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID",
  authToken: "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
} as const;
const NOISE_ACCOUNT = "CODEX_EXEC_SERVER_NOISE_CHATGPT_ACCOUNT_ID";

/** All three variables, or none of them. */
function readNoise(env: EnvironmentsSources["env"]): ConfiguredNoise | undefined {
  const read = (name: string) => trimBlanks(env[name] ?? "") || undefined;
  const [registryUrl, environmentId, authToken] = [
    read(NOISE.registryUrl),
    read(NOISE.environmentId),
    read(NOISE.authToken),
  ];
  if (registryUrl === undefined && environmentId === undefined && authToken === undefined) return undefined;
  if (registryUrl === undefined || environmentId === undefined || authToken === undefined) {
    const missing = Object.values(NOISE).filter((name) => read(name) === undefined);
    const rule = `is not set: an environment of a registry needs ${Object.values(NOISE).join(", ")} together`;
    throw new EnvironmentsConfigError({ key: missing.join("`, `"), rule });
  }
  const account = read(NOISE_ACCOUNT);
  return {
    kind: "noise",
    id: "remote",
    place: NOISE.registryUrl,
    initializeTimeoutMs: INITIALIZE_TIMEOUT_MS,
    requiredSkills: [],
    registryUrl,
    environmentId,
    token: { kind: "literal", token: authToken },
    ...defined({ chatgptAccountId: account }),
  };
}
