import { posix } from "node:path";
import { RpcError } from "@codex/channel";
import {
  type DiscoveredFile,
  type DiscoveredPlugin,
  type DiscoveredSkill,
  type DiscoverParams,
  type DiscoverResult,
  ERROR_CODES,
  parseFileUrl,
  toFileUrl,
} from "@codex/exec-server-protocol";
import type { ConnectionFileSystem } from "@codex/host-files";
import { decodeText, messageOf, parseFrontMatter } from "@codex/values";
import * as z from "zod/mini";
import { getCodexHome, getHome } from "../environment/environment-info.js";
import { MAX_DISCOVERED, MAX_DISCOVERED_FILE_BYTES, MAX_SKILL_NAME } from "../limits.js";

/** Serves `capabilities/discoverV2`: the skills and plugins that are installed on this host. */
export interface CapabilityFinder {
  /** `files` reads them, in the sandbox of the caller if it has one. */
  discover(params: DiscoverParams, files: Pick<ConnectionFileSystem, "walk" | "readFile">): Promise<DiscoverResult>;
}

/** Options of `createCapabilityFinder`. */
export interface CapabilityFinderOptions {
  /** Parses the `agents/openai.yaml` of a skill. */
  parseYaml(text: string): unknown;
  /** Environment that locates the user's folders. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Directory of the configuration of the host; default `/etc/codex`. */
  systemDirectory?: string;
}

/**
 * Finds what Codex 0.169.0 finds, in the same order. What the sandbox does not let the caller read is not there; what cannot be
 * read otherwise is left out, with a warning.
 */
export function createCapabilityFinder(options: CapabilityFinderOptions): CapabilityFinder {
  const { parseYaml, env = process.env, systemDirectory = "/etc/codex" } = options;
  const codexHome = getCodexHome(env);
  const roots = [
    { id: "codex-home-skills", path: posix.join(codexHome, "skills") },
    { id: "user-agent-skills", path: posix.join(getHome(env), ".agents/skills") },
    { id: "system-skills", path: posix.join(systemDirectory, "skills") },
  ];
  return {
    async discover({ sandbox }, files) {
      const found = new Finding(files, sandbox, parseYaml);
      const skills: DiscoverResult["skills"] = [];
      for (const { id, path } of roots) {
        const discoveryRoot = { id, path: toFileUrl(path) };
        for (const skill of await found.skillsIn(path)) skills.push({ ...skill, discoveryRoot });
      }
      const plugins = await found.plugins(posix.join(codexHome, "plugins/cache"));
      return { plugins, skills, warnings: found.warnings };
    },
  };
}

const SKILLS = { maxDepth: 6, maxDirectories: 2_000, maxEntries: 20_000, pruneHiddenDirectories: false };
/** Marketplace, plugin, version. */
const VERSIONS = { maxDepth: 2, maxDirectories: 2_000, maxEntries: 20_000, pruneHiddenDirectories: false };

/** One discovery. */
class Finding {
  readonly warnings: string[] = [];
  readonly #files: Pick<ConnectionFileSystem, "walk" | "readFile">;
  readonly #sandbox: DiscoverParams["sandbox"];
  readonly #parseYaml: (text: string) => unknown;

  constructor(
    files: Pick<ConnectionFileSystem, "walk" | "readFile">,
    sandbox: DiscoverParams["sandbox"],
    parseYaml: (text: string) => unknown,
  ) {
    this.#files = files;
    this.#sandbox = sandbox;
    this.#parseYaml = parseYaml;
  }

  /** Those below a directory, by path. @param prefix of their names */
  async skillsIn(root: string, prefix = ""): Promise<DiscoveredSkill[]> {
    const paths = await this.#list(root, SKILLS, ({ kind, path }) => kind === "file" && path.endsWith("/SKILL.md"));
    const skills = await Promise.all(paths.map((path) => this.#readSkill(path, prefix)));
    return skills.filter((skill) => skill !== undefined);
  }

  /** The newest version of each installed plugin. */
  async plugins(cache: string): Promise<DiscoveredPlugin[]> {
    const depth = cache.split("/").length;
    const directories = await this.#list(
      cache,
      VERSIONS,
      ({ kind, path }) => kind === "directory" && path.split("/").length === depth + 3,
    );
    const versions = new Map<string, string[]>();
    for (const directory of directories) {
      const [version = "", plugin = "", marketplace = ""] = directory.split("/").reverse();
      if (![plugin, marketplace].every((name) => /^[\w-]+$/.test(name))) {
        this.warnings.push(
          `${directory} is no plugin: its name or that of its marketplace has other characters than letters, digits, - and _`,
        );
        continue;
      }
      const id = `${plugin}@${marketplace}`;
      versions.set(id, [...(versions.get(id) ?? []), version]);
    }
    const found = await Promise.all(
      [...versions].map(([id, all]) => {
        const [plugin = "", marketplace = ""] = id.split("@");
        const version = all.toSorted(compareVersions).at(-1) ?? "";
        return this.#readPlugin(id, version, posix.join(cache, marketplace, plugin, version));
      }),
    );
    return found.filter((plugin) => plugin !== undefined).sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async #readPlugin(id: string, version: string, root: string): Promise<DiscoveredPlugin | undefined> {
    const manifest =
      (await this.#readText(posix.join(root, ".codex-plugin/plugin.json"))) ??
      (await this.#readText(posix.join(root, ".claude-plugin/plugin.json")));
    if (manifest === undefined) return undefined;
    const parsed = this.#parse(manifest.path, () => z.parse(manifestSchema, JSON.parse(manifest.contents)));
    if (parsed === undefined) return undefined;
    const { name = posix.basename(root), interface: shown, skills = "./skills", mcpServers, apps } = parsed;
    const file = async (given: unknown, standard: string) => {
      if (typeof given === "object" && given !== null) return { ...manifest, contents: JSON.stringify(given) };
      const path = inside(root, given === undefined ? standard : given);
      return (path === undefined ? undefined : await this.#readText(path)) ?? null;
    };
    const directories = [skills].flat().flatMap((path) => inside(root, path) ?? []);
    const [mcpConfig, appsConfig, ...found] = await Promise.all([
      file(mcpServers, "./.mcp.json"),
      file(apps, "./.app.json"),
      ...directories.map((directory) => this.skillsIn(directory, `${name}:`)),
    ]);
    return {
      id,
      displayName: shown?.displayName ?? name,
      remotePluginId: null,
      version,
      root: toFileUrl(root),
      files: {
        manifest: toUrl(manifest),
        mcpConfig: mcpConfig && toUrl(mcpConfig),
        appsConfig: appsConfig && toUrl(appsConfig),
      },
      skills: found.flat(),
    };
  }

  async #readSkill(path: string, prefix: string): Promise<DiscoveredSkill | undefined> {
    const file = await this.#readText(path);
    if (file === undefined) return undefined;
    const values = parseFrontMatter(file.contents);
    const name = values?.get("name") || posix.basename(posix.dirname(path));
    const description = values?.get("description") ?? "";
    if (description === "" || [...name].length > MAX_SKILL_NAME) {
      const problem =
        description === ""
          ? "it has no front matter with a description"
          : `its name has more than ${MAX_SKILL_NAME} characters`;
      this.warnings.push(`${path} is no skill: ${problem}`);
      return undefined;
    }
    return {
      name: `${prefix}${name}`,
      description,
      shortDescription: values?.get("metadata.short-description") ?? null,
      path: toFileUrl(path),
      ...(await this.#readMetadata(posix.join(posix.dirname(path), "agents/openai.yaml"))),
    };
  }

  async #readMetadata(path: string): Promise<Pick<DiscoveredSkill, "dependencies" | "policy">> {
    const file = await this.#readText(path);
    const parsed = file && this.#parse(path, () => z.parse(metadataSchema, this.#parseYaml(file.contents) ?? {}));
    const { dependencies, policy } = parsed ?? {};
    return {
      dependencies: dependencies == null ? null : { tools: (dependencies.tools ?? []).map(toTool) },
      policy:
        policy == null
          ? null
          : { allowImplicitInvocation: policy.allow_implicit_invocation ?? null, products: policy.products ?? [] },
    };
  }

  /** Undefined where there is none, or the caller may not see it. */
  async #readText(path: string): Promise<DiscoveredFile | undefined> {
    try {
      const bytes = await this.#files.readFile({ path, sandbox: this.#sandbox, followSymlinks: true }, async (size) => {
        if (size > MAX_DISCOVERED_FILE_BYTES)
          throw new Error(`${size} bytes, the limit is ${MAX_DISCOVERED_FILE_BYTES}`);
      });
      return { path, contents: decodeText(bytes) };
    } catch (error) {
      if (!isAbsent(error)) this.warnings.push(`${path} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #list(
    root: string,
    options: typeof SKILLS,
    isWanted: (entry: { kind: string; path: string }) => boolean,
  ): Promise<string[]> {
    try {
      const params = { path: root, sandbox: this.#sandbox, options: { ...options, followDirectorySymlinks: true } };
      const { entries, errors, truncated } = await this.#files.walk(params);
      this.warnings.push(...errors.map(({ path, message }) => `${path} cannot be read: ${message}`));
      const wanted = entries
        .flatMap(({ kind, path }) => {
          const parsed = parseFileUrl(path);
          // A name that is not UTF-8 is none of a skill or a plugin.
          return parsed.kind === "ok" && typeof parsed.path === "string" ? [{ kind, path: parsed.path }] : [];
        })
        .filter(isWanted)
        .map(({ path }) => path)
        .sort();
      if (truncated || wanted.length > MAX_DISCOVERED)
        this.warnings.push(`${root} has more than is read, the limit is ${MAX_DISCOVERED}`);
      return wanted.slice(0, MAX_DISCOVERED);
    } catch (error) {
      if (!isAbsent(error)) this.warnings.push(`${root} cannot be read: ${messageOf(error)}`);
      return [];
    }
  }

  #parse<T>(path: string, parse: () => T): T | undefined {
    try {
      return parse();
    } catch {
      // What is wrong in a file of somebody else is not quoted.
      this.warnings.push(`${path} is not as expected, and is left out`);
      return undefined;
    }
  }
}

const text = z.string();
const paths = z.union([text, z.array(text)]);
const manifestSchema = z.object({
  name: z.optional(text),
  interface: z.optional(z.object({ displayName: z.optional(text) })),
  skills: z.optional(paths),
  mcpServers: z.optional(z.unknown()),
  apps: z.optional(z.unknown()),
});

const maybe = z.optional(z.nullable(text));
const toolSchema = z.object({
  type: text,
  value: text,
  description: maybe,
  transport: maybe,
  command: maybe,
  url: maybe,
  oauth_callback_port: z.optional(z.nullable(z.int())),
});
const metadataSchema = z.object({
  dependencies: z.optional(z.nullable(z.object({ tools: z.optional(z.array(toolSchema)) }))),
  policy: z.optional(
    z.nullable(z.object({ allow_implicit_invocation: z.optional(z.boolean()), products: z.optional(z.array(text)) })),
  ),
});

const toTool = ({ type, value, ...rest }: z.output<typeof toolSchema>) => ({
  type,
  value,
  description: rest.description ?? null,
  transport: rest.transport ?? null,
  command: rest.command ?? null,
  url: rest.url ?? null,
  oauthCallbackPort: rest.oauth_callback_port ?? null,
});

const toUrl = ({ path, contents }: DiscoveredFile): DiscoveredFile => ({ path: toFileUrl(path), contents });

/** A path of a manifest, which names only what is in the plugin. */
function inside(root: string, given: unknown): string | undefined {
  if (typeof given !== "string" || !given.startsWith("./") || given.split("/").includes("..")) return undefined;
  return posix.join(root, given);
}

const isAbsent = (error: unknown): boolean =>
  error instanceof RpcError &&
  (error.code === ERROR_CODES.notFound || /EACCES|EPERM|ENOTDIR|permission denied/i.test(error.message));

/** `local` is that of a developer, and the newest. */
function compareVersions(one: string, other: string): number {
  if (one === "local" || other === "local") return one === other ? 0 : one === "local" ? 1 : -1;
  return one.localeCompare(other, "en", { numeric: true });
}
