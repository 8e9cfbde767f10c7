import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { RpcError } from "@codex/channel";
import type { EnvironmentInfo } from "@codex/exec-server-protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createConfigReader, selectPaths, type TomlCodec } from "../../src/environment/config-reader.js";
import { ENVIRONMENT_REQUESTS } from "../../src/environment/methods.js";

/** The reader does not mind which notation its codec reads; with JSON the test needs no other package. */
const JSON_CODEC: TomlCodec = { parse: (text) => JSON.parse(text), stringify: (table) => JSON.stringify(table) };

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "exec-server-config-"));
  mkdirSync(join(root, "system"));
  mkdirSync(join(root, "home/.codex"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (name: string, table: unknown) => writeFileSync(join(root, name), JSON.stringify(table));

async function read(params: unknown, env: Record<string, string> = { HOME: join(root, "home") }): Promise<unknown> {
  const config = createConfigReader({ toml: JSON_CODEC, env, systemDirectory: join(root, "system") });
  try {
    // What the host is plays no part here.
    const info = {} as EnvironmentInfo;
    return await ENVIRONMENT_REQUESTS.get("environmentConfig/read")!(params)({ info, config });
  } catch (error) {
    if (error instanceof RpcError) return { code: error.code, message: error.message };
    throw error;
  }
}

it("answers with no layers where there is no configuration", async () => {
  const params = { cwd: "file:///tmp", configPaths: [["mcp_servers"]], requirementsPaths: [["mcp_servers"]] };
  expect(await read(params)).toEqual({
    userHomeDir: `file://${root}/home`,
    codexHomeDir: `file://${root}/home/.codex`,
    hostname: hostname(),
    config: { layers: [], cloudInsertionIndex: 0 },
    requirements: { layers: [], cloudInsertionIndex: 0 },
  });
});

it("tells the layers from the weakest to the strongest, each with what was asked for", async () => {
  const servers = (name: string) => ({ model: "m", mcp_servers: { [name]: { command: "c" } } });
  for (const name of ["system/config.toml", "home/.codex/config.toml", "system/managed_config.toml"]) {
    write(name, servers(name));
  }
  write("system/requirements.toml", servers("r"));
  const answer = await read({
    cwd: "file:///tmp",
    configPaths: [["mcp_servers"]],
    requirementsPaths: [["mcp_servers", "r"]],
  });
  const layer = (source: string, name: string, directory: string) => ({
    source,
    baseDir: `file://${root}/${directory}`,
    toml: JSON.stringify({ mcp_servers: { [name]: { command: "c" } } }),
  });
  expect(answer).toMatchObject({
    config: {
      layers: [
        layer(`system (${root}/system/config.toml)`, "system/config.toml", "system"),
        layer(`user (${root}/home/.codex/config.toml)`, "home/.codex/config.toml", "home/.codex"),
        layer(
          `legacy managed_config.toml (${root}/system/managed_config.toml)`,
          "system/managed_config.toml",
          "system",
        ),
      ],
      cloudInsertionIndex: 1,
    },
    requirements: { layers: [layer(`${root}/system/requirements.toml`, "r", "system")], cloudInsertionIndex: 1 },
  });
});

it("looks for the user's layer in CODEX_HOME", async () => {
  mkdirSync(join(root, "other"));
  write("other/config.toml", { model: "other" });
  const env = { HOME: join(root, "home"), CODEX_HOME: join(root, "other") };
  const answer = await read({ cwd: "file:///tmp", configPaths: [["model"]], requirementsPaths: [] }, env);
  expect(answer).toMatchObject({
    codexHomeDir: `file://${root}/other`,
    config: { layers: [{ toml: '{"model":"other"}' }] },
  });
});

it("names the file that cannot be read, without quoting it", async () => {
  writeFileSync(join(root, "home/.codex/config.toml"), '{"token": "secret"');
  const params = { cwd: "file:///tmp", configPaths: [["model"]], requirementsPaths: [] };
  const problem = `failed to load executor-local config: ${root}/home/.codex/config.toml: `;
  expect(await read(params)).toEqual({ code: -32603, message: expect.stringContaining(problem) });
  rmSync(join(root, "home/.codex/config.toml"));
  mkdirSync(join(root, "home/.codex/config.toml"));
  expect(await read(params)).toEqual({ code: -32603, message: expect.stringContaining("is not a file") });
});

it("is a method that is not there without a reader", async () => {
  const params = { cwd: "file:///tmp", configPaths: [["model"]], requirementsPaths: [] };
  const request = ENVIRONMENT_REQUESTS.get("environmentConfig/read")!(params);
  await expect(request({ info: {} as EnvironmentInfo })).rejects.toMatchObject({ code: -32601 });
});

it.each([
  [[["a"]], { a: { b: { c: 1, d: 2 }, e: [1] } }],
  [[["a", "b"]], { a: { b: { c: 1, d: 2 } } }],
  [[["a", "b", "c"], ["f"]], { a: { b: { c: 1 } }, f: "f" }],
  [
    [
      ["a", "b", "c"],
      ["a", "e"],
    ],
    { a: { b: { c: 1 }, e: [1] } },
  ],
  [[["a", "b", "c"], ["a"]], { a: { b: { c: 1, d: 2 }, e: [1] } }],
  [[["a"], ["a", "b", "c"]], { a: { b: { c: 1, d: 2 }, e: [1] } }],
  [[["f", "g"]], { f: "f" }],
  [[["a", "e", "x"]], { a: { e: [1] } }],
  [[["nope"], ["a", "nope"], [""], ["toString"]], undefined],
])("selects %j", (paths, selected) => {
  const table = { a: { b: { c: 1, d: 2 }, e: [1] }, f: "f" };
  expect(selectPaths(table, paths)).toEqual(selected);
  expect(table).toEqual({ a: { b: { c: 1, d: 2 }, e: [1] }, f: "f" });
});
