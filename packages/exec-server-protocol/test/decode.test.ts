import { RpcError } from "@codex/channel";
import { describe, expect, it } from "vitest";
import { decodeConfigRead, decodeEnvironmentParams } from "../src/environment.js";
import {
  decodeGetMetadata,
  decodeOpen,
  decodeReadBlock,
  decodeRemove,
  decodeWalk,
  decodeWriteFile,
} from "../src/fs.js";
import { decodeHttpRequest } from "../src/http.js";
import { decodeInitialize } from "../src/initialize.js";
import { decodeRead, decodeSignal, decodeStart, decodeTerminate, decodeWrite } from "../src/process.js";

/** Code and message of the error. */
function errorOf(decode: (params: unknown) => unknown, params: unknown): [number, string] {
  try {
    decode(params);
  } catch (error) {
    if (error instanceof RpcError) return [error.code, error.message];
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(params)}`);
}

const START = { processId: "p", argv: ["true"], cwd: "file:///tmp", env: {}, tty: false };
const ENV_POLICY = { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };

describe("an error names the problem and the member", () => {
  it.each<[(params: unknown) => unknown, unknown, string]>([
    [decodeInitialize, undefined, "invalid type: null, expected struct InitializeParams"],
    [decodeInitialize, null, "invalid type: null, expected struct InitializeParams"],
    [decodeInitialize, ["x"], "invalid type: sequence, expected struct InitializeParams"],
    [decodeInitialize, "x", 'invalid type: string "x", expected struct InitializeParams'],
    [decodeInitialize, {}, "missing field `clientName`"],
    [decodeStart, {}, "missing field `processId`"],
    [decodeStart, { ...START, argv: undefined }, "missing field `argv`"],
    [decodeStart, { ...START, cwd: undefined }, "missing field `cwd`"],
    [decodeStart, { ...START, env: undefined }, "missing field `env`"],
    [decodeStart, { ...START, tty: undefined }, "missing field `tty`"],
    [decodeStart, { ...START, processId: 5 }, "invalid type: number, expected a string (in `processId`)"],
    [decodeStart, { processId: null }, "invalid type: null, expected a string (in `processId`)"],
    [decodeStart, { ...START, argv: "x" }, 'invalid type: string "x", expected a sequence (in `argv`)'],
    [decodeStart, { ...START, argv: ["a", 1] }, "invalid type: number, expected a string (in `argv.1`)"],
    [decodeStart, { ...START, argv: [] }, "argv must not be empty (in `argv`)"],
    [decodeStart, { ...START, tty: "x" }, 'invalid type: string "x", expected a boolean (in `tty`)'],
    [decodeStart, { ...START, env: [] }, "invalid type: sequence, expected a map (in `env`)"],
    [decodeStart, { ...START, env: { A: 1 } }, "invalid type: number, expected a string (in `env.A`)"],
    [decodeStart, { ...START, cwd: "http://x/" }, "unsupported path URI scheme `http` (in `cwd`)"],
    [decodeStart, { ...START, cwd: "tmp" }, "invalid URI: relative URL without a base (in `cwd`)"],
    [
      decodeStart,
      { ...START, envPolicy: { inherit: "all" } },
      "missing field `ignoreDefaultExcludes` (in `envPolicy`)",
    ],
    [
      decodeStart,
      { ...START, envPolicy: { ...ENV_POLICY, inherit: "some" } },
      "unknown variant `some`, expected one of `all`, `core`, `none` (in `envPolicy.inherit`)",
    ],
    [decodeStart, { ...START, sandbox: {} }, "missing field `permissions` (in `sandbox`)"],
    [
      decodeStart,
      { ...START, sandbox: { permissions: { type: "disabled" } } },
      "missing field `windowsSandboxLevel` (in `sandbox`)",
    ],
    [
      decodeStart,
      { ...START, sandbox: { permissions: { type: "q" }, windowsSandboxLevel: "disabled" } },
      "unknown variant `q` (in `sandbox.permissions.type`)",
    ],
    [decodeStart, { ...START, metadata: { threadId: "x" } }, "`x` is not a UUID (in `metadata.threadId`)"],
    [decodeRead, { processId: "p", afterSeq: -1 }, "invalid number (in `afterSeq`)"],
    [decodeRead, { processId: "p", afterSeq: 1.5 }, "invalid number (in `afterSeq`)"],
    [decodeRead, { processId: "p", waitMs: 2 ** 53 }, "invalid number (in `waitMs`)"],
    [decodeRead, { processId: "p", maxBytes: "5" }, 'invalid type: string "5", expected u64 (in `maxBytes`)'],
    [decodeWrite, { processId: "p", chunk: "***", writeId: "w" }, "Invalid symbol 42, offset 0. (in `chunk`)"],
    [decodeWrite, { processId: "p", chunk: "aGVsbG8", writeId: "w" }, "Invalid padding (in `chunk`)"],
    [decodeWrite, { processId: "p", chunk: "", writeId: "" }, "writeId must not be empty (in `writeId`)"],
    [decodeWrite, { processId: "p" }, "missing field `chunk`"],
    [
      decodeSignal,
      { processId: "p", signal: "kill" },
      "unknown variant `kill`, expected one of `interrupt`, `terminate`, `hangup` (in `signal`)",
    ],
    [decodeSignal, { processId: "p", signal: 5 }, "invalid type: number, expected string or map (in `signal`)"],
    [decodeWalk, { path: "file:///tmp" }, "missing field `options`"],
    [decodeWalk, { path: "file:///tmp", options: {} }, "missing field `maxDepth` (in `options`)"],
    [
      decodeOpen,
      { handleId: "h", path: "file:///x", mode: "append" },
      "unknown variant `append`, expected `read` or `replace` (in `mode`)",
    ],
    [decodeReadBlock, { handleId: "h", offset: -1, len: 1 }, "invalid number (in `offset`)"],
    [decodeEnvironmentParams, { a: 1 }, "invalid type: map, expected unit"],
    [decodeEnvironmentParams, [], "invalid type: sequence, expected unit"],
    [
      decodeConfigRead,
      { cwd: "file:///x", configPaths: [[]], requirementsPaths: [] },
      "TOML paths must contain at least one key segment (in `configPaths.0`)",
    ],
    [
      decodeConfigRead,
      { cwd: "file:///x", configPaths: [], requirementsPaths: [] },
      "at least one config or requirements path is required",
    ],
    [decodeHttpRequest, { method: "GET", url: "http://x" }, "missing field `requestId`"],
  ])("%o refuses %j", (decode, params, text) => {
    expect(errorOf(decode, params)).toEqual([-32602, text]);
  });

  it("gives bad file data and foreign paths the code of an invalid request", () => {
    const text = "fs/writeFile requires valid base64 dataBase64: Invalid symbol 42, offset 0. (in `dataBase64`)";
    expect(errorOf(decodeWriteFile, { path: "file:///x", dataBase64: "***" })).toEqual([-32600, text]);
    const foreign = { path: "file://host/x" };
    expect(errorOf(decodeGetMetadata, foreign)).toEqual([
      -32600,
      expect.stringContaining("'file://host/x' is invalid on "),
    ]);
    const cwd = { ...START, cwd: "file:///C:/x" };
    const problem = "cwd URI `file:///C:/x` is not valid on this exec-server host: 'file:///C:/x' is invalid on ";
    expect(errorOf(decodeStart, cwd)).toEqual([-32602, expect.stringContaining(problem)]);
    expect(errorOf(decodeStart, { ...START, cwd: "file:///%FF" })).toEqual([
      -32602,
      expect.stringContaining("not UTF-8"),
    ]);
  });

  it("reports a wrong type before a missing member", () => {
    expect(errorOf(decodeStart, { env: 1 })[1]).toBe("invalid type: number, expected a map (in `env`)");
  });

  it("shortens a long value that it quotes", () => {
    expect(errorOf(decodeSignal, { processId: "p", signal: "x".repeat(100_000) })[1].length).toBeLessThan(200);
  });
});

describe("valid params", () => {
  it("keep known members, drop unknown ones and treat null as absent", () => {
    const params = decodeStart({ ...START, arg0: null, sandbox: null, managedNetwork: null, pipeStdin: null, more: 1 });
    expect(params).toMatchObject({
      processId: "p",
      argv: ["true"],
      cwd: "/tmp",
      env: {},
      tty: false,
      pipeStdin: false,
    });
    expect(params).toMatchObject({ enforceManagedNetwork: false });
    expect(params.arg0 ?? params.sandbox ?? params.managedNetwork).toBeUndefined();
    expect(params).not.toHaveProperty("more");
    expect(decodeRead({ processId: "p", afterSeq: null, maxBytes: null, waitMs: null })).toMatchObject({
      afterSeq: 0,
      waitMs: 0,
    });
  });

  it("accept every form of the params of `process/read`, and no wrong type or range", () => {
    const read = { processId: "p", afterSeq: 5, maxBytes: 0, waitMs: 7 };
    expect(decodeRead({ ...read, more: 1 })).toEqual(read);
    expect(decodeRead({ processId: "p" })).toEqual({ processId: "p", afterSeq: 0, maxBytes: undefined, waitMs: 0 });
    for (const member of ["afterSeq", "maxBytes", "waitMs"]) {
      for (const value of [-1, 0.5, 2 ** 53, "1", true, [], {}]) {
        expect(() => decodeRead({ ...read, [member]: value })).toThrow(new RegExp(`in \`${member}\``));
      }
    }
    expect(() => decodeRead({ ...read, processId: null })).toThrow("in `processId`");
    expect(() => decodeRead([read])).toThrow("invalid type: sequence");
  });

  it("have the defaults of the file methods", () => {
    expect(decodeRemove({ path: "file:///x", recursive: null })).toMatchObject({
      recursive: true,
      force: true,
      followSymlinks: true,
    });
    expect(decodeOpen({ handleId: "", path: "file:///x", mode: null })).toMatchObject({ handleId: "", mode: "read" });
    expect(decodeGetMetadata({ path: "file:///x" })).toMatchObject({
      path: "/x",
      followSymlinks: true,
      extended: false,
    });
  });

  it("accept what the first versions of the protocol allowed", () => {
    expect(decodeStart({ ...START, cwd: "/a b" }).cwd).toBe("/a b");
    expect(decodeWrite({ processId: "p", chunk: "eA==" })).toMatchObject({ chunk: Buffer.from("x") });
  });

  it("accept the extensions of this server", () => {
    expect(decodeStart({ ...START, rows: 50, cols: 132 })).toMatchObject({ rows: 50, cols: 132 });
    expect(decodeTerminate({ processId: "p", graceMs: 100 })).toMatchObject({ graceMs: 100 });
    expect(decodeTerminate({ processId: "p" }).graceMs).toBeUndefined();
  });

  it("may be absent, null or empty where a method has none", () => {
    for (const params of [undefined, null, {}]) expect(() => decodeEnvironmentParams(params)).not.toThrow();
  });

  it("accept a sandbox as Codex sends it", () => {
    const sandbox = {
      permissions: {
        type: "managed",
        file_system: {
          type: "restricted",
          entries: [
            { path: { type: "special", value: { kind: "root" } }, access: "read" },
            { path: { type: "path", path: "file:///tmp" }, access: "write" },
            { path: { type: "glob_pattern", pattern: "**/.env" }, access: "deny" },
          ],
        },
        network: "restricted",
      },
      cwd: "file:///tmp",
      workspaceRoots: ["file:///tmp"],
      windowsSandboxLevel: "disabled",
      windowsSandboxProxySettingsMode: "reconcile",
      useLegacyLandlock: false,
    };
    const decoded = decodeStart({ ...START, sandbox }).sandbox;
    expect(decoded).toMatchObject({ cwd: "/tmp", workspaceRoots: ["/tmp"] });
    const native = JSON.parse(JSON.stringify(sandbox.permissions).replace("file:///tmp", "/tmp"));
    expect(JSON.parse(JSON.stringify(decoded?.permissions))).toEqual(native);
  });
});
