import { visible } from "@codex/agent-terminal/text";
import {
  type ConfigFlags,
  type ConfiguredHook,
  describePlace,
  HIDDEN,
  KEY_BY_NAME,
  type LoadedConfig,
  type Origin,
  renderValue,
} from "@codex/config";
import { print, printJson } from "../notice.js";
import { openConfig } from "../open-config.js";

/** Prints every setting with its value and source. */
export async function runConfigShow(options: ConfigFlags & { json: boolean }): Promise<void> {
  const config = await openConfig(options);
  options.json ? printJson(describe(config)) : print(render(config));
}

interface Shown {
  key: string;
  value: unknown;
  origin: Origin;
}

function listShown({ values }: LoadedConfig): Shown[] {
  return [...KEY_BY_NAME.values()].map((key) => {
    const { value, origin } = values.get(key.name) ?? { value: key.fallback, origin: { kind: "default" as const } };
    return { key: key.name, value: key.secret === true ? hideValues(value) : value, origin };
  });
}

/** Shows names only; values may be secret. */
const hideValues = (value: unknown) =>
  Object.fromEntries(Object.keys(Object(value)).map((name) => [name, HIDDEN] as const));

function describe(config: LoadedConfig) {
  const { sources, project, layers, mcpServers, hooks, elsewhere, unused, notices, requirements } = config;
  return {
    codexHome: { value: sources.home, origin: sources.homeOrigin },
    project: { root: project.root, trust: project.trust ?? null },
    layers,
    values: listShown(config),
    mcpServers: mcpServers.map(({ name, isOn, origin }) => ({ name, enabled: isOn, origin })),
    managedHooksOnly: requirements?.managedHooksOnly ?? false,
    hooks: hooks.map(({ hook, isActive, trust }) => ({ key: hook.key, runs: isActive, trust })),
    elsewhere: elsewhere.filter(isNotListed),
    unused,
    ignored: notices,
  };
}

/** Servers and hooks have a list of their own. */
const isNotListed = ({ key }: { key: string }): boolean => key !== "mcp_servers" && key !== "hooks";

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : ["", title, ...rows.map((row) => visible(`  ${row.join("  ")}`))];

const MANAGED_ONLY = "the administrator's allow_managed_hooks_only";

function decidedBy({ trust, isEnabled }: ConfiguredHook): string {
  if (trust === "managed") return "the administrator's";
  if (!isEnabled) return "turned off";
  return trust === "trusted"
    ? "trusted"
    : trust === "modified"
      ? "changed since it was trusted"
      : "nobody has trusted it";
}

function render(config: LoadedConfig): string {
  const { sources, project, layers, mcpServers, hooks, elsewhere, unused, requirements } = config;
  const trust = project.trust ?? `not trusted: ${visible(project.toMark)} is not marked`;
  const rows = listShown(config).map(({ key, value, origin }) => [key, renderValue(value), describePlace(origin)]);
  const others = elsewhere.filter(isNotListed);
  const widths = [0, 1].map((column) => Math.min(48, Math.max(...rows.map((row) => row[column]?.length ?? 0))));
  const lines = [
    `codex home  ${visible(sources.home)} (${describePlace(sources.homeOrigin)})`,
    `project     ${visible(project.root)} (${trust})`,
    ...layers.map(
      ({ layer, file, state }) => `${layer.padEnd(11)} ${visible(file)}${state === "used" ? "" : ` (${state})`}`,
    ),
    "",
    ...rows.map(([key = "", value = "", where = ""]) =>
      visible(`${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${where}`),
    ),
    ...section(
      "MCP servers:",
      mcpServers.map(({ name, isOn, origin }) => [name, isOn ? "on" : "off", describePlace(origin)]),
    ),
    ...section("hooks:", [
      ...hooks.map((each) => [each.hook.key, each.isActive ? "runs" : "does not run", decidedBy(each)]),
      ...(requirements?.managedHooksOnly === true ? [["all others", "do not run", MANAGED_ONLY]] : []),
    ]),
    ...section(
      "read where they are needed:",
      others.map(({ key, origin }) => [key, describePlace(origin)]),
    ),
    ...section(
      "not used here:",
      unused.map(({ key, origin }) => [key, describePlace(origin)]),
    ),
  ];
  return `${lines.join("\n")}\n`;
}
