import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseKeyPath } from "@codex/toml";
import { describe, expect, it } from "vitest";
import { CONFIG_TABLE } from "../../src/restrictions/config-rows.js";
import { findRow, type KeyTable } from "../../src/restrictions/find-restrictions.js";
import { REQUIREMENTS_TABLE } from "../../src/restrictions/requirements-rows.js";
import { findFields, readFieldRuns } from "./binary-fields.js";

const recorded = JSON.parse(readFileSync(new URL("codex-keys.json", import.meta.url), "utf8")) as {
  config: string[];
  requirements: string[];
  hookEvents: string[];
};
const split = (key: string) => parseKeyPath(key.replaceAll("*", "x")) ?? [];
const isCovered = (table: KeyTable, key: string) => {
  const row = findRow(table, split(key));
  return row !== undefined && (row !== "table" || recorded.config.some((below) => below.startsWith(`${key}.`)));
};

describe("the tables of keys", () => {
  it("have every key of Codex's config.toml", () => {
    expect(recorded.config.filter((key) => !isCovered(CONFIG_TABLE, key))).toEqual([]);
  });

  it("have every key of Codex's requirements.toml", () => {
    expect(recorded.requirements.filter((key) => findRow(REQUIREMENTS_TABLE, [key]) === undefined)).toEqual([]);
  });

  it("have no key that Codex does not have", () => {
    const known = new Set(recorded.config);
    const isKnown = (key: string) => known.has(key) || known.has(key.split(".").slice(0, 1).join("."));
    expect(CONFIG_TABLE.rows.map(({ key }) => key).filter((key) => !isKnown(key))).toEqual([]);
    const tops = REQUIREMENTS_TABLE.rows.map(({ key }) => key.split(".")[0] ?? "");
    expect(tops.filter((key) => !recorded.requirements.includes(key))).toEqual([]);
  });

  it("have one row per key, and say for each that is not supported what would not hold or why that is nothing", () => {
    for (const { rows } of [CONFIG_TABLE, REQUIREMENTS_TABLE]) {
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
      for (const row of rows) if (row.here !== "supported") expect(row.why, row.key).toMatch(/\w{3}/);
    }
  });
});

const binary = process.env.CODEX_BINARY ?? "";
describe.skipIf(binary === "" || process.platform !== "linux")("the recorded keys are those of $CODEX_BINARY", () => {
  const runs = binary === "" ? [] : readFieldRuns(binary);
  const below = (table: string) =>
    recorded.config.filter((key) => key.startsWith(`${table}.`)).map((key) => key.slice(table.length + 1));
  const top = recorded.config.filter((key) => !key.includes("."));

  it("at the top of config.toml", () => {
    const found = findFields(runs, "model", "oss_provider", ["daybreak", "sandbox_workspace_write"]);
    expect(found.toSorted()).toEqual(top.toSorted());
  });

  it.each([
    ["mcp_servers.*", "command", "tools", ["enabled_tools", "bearer_token"]],
    ["shell_environment_policy", "inherit", "experimental_use_profile", ["experimental_use_profile"]],
    ["sandbox_workspace_write", "writable_roots", "exclude_slash_tmp", ["exclude_slash_tmp"]],
  ])("in %s", (table, first, last, within) => {
    expect(findFields(runs, first, last, within).toSorted()).toEqual(below(table).toSorted());
  });

  it("in requirements.toml", () => {
    const found = findFields(runs, "config_server", "guardian_extra_policy", ["allowed_approval_policies"]);
    expect(found).toEqual(recorded.requirements);
  });

  it("of hooks", () => {
    expect(findFields(runs, "PreModelRequest", "Interrupt", ["PreModelRequest"])).toEqual(recorded.hookEvents);
  });

  it("among the features", () => {
    const listed = execFileSync(binary, ["features", "list"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const names = listed
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/)[0] ?? "");
    const known = new Set(below("features").map((key) => key.replaceAll('"', "")));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(200);
  });
});
