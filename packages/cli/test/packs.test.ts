import { execFileSync, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { codex } from "./support.js";

/** What the build has put into the file that a command loads. */
const packs = JSON.parse(readFileSync(new URL("../dist/packs.json", import.meta.url), "utf8")) as Record<
  string,
  { bytes: number; packages: string[] }
>;

const NEVER = [
  "agent",
  "commander",
  "exec-server",
  "exec-server-client",
  "policy",
  "shell-analysis",
  "smol-toml",
  "starlark",
  "toml",
];
const HOST = ["executor", "process-host", "sandbox", "shell-snapshot"];

// Bounds are some 3 % above what is loaded, so that they tell of a library that has come in and not of a few lines.
describe.each([
  { name: "run", maxBytes: 548_000, without: [...NEVER, "ws"] },
  { name: "run-remote", maxBytes: 334_000, without: [...NEVER, ...HOST] },
  { name: "tools-list", maxBytes: 531_000, without: [...NEVER, "ws"] },
  {
    name: "run-configured",
    maxBytes: 42_000,
    without: [...NEVER.filter((each) => !/toml/.test(each)), ...HOST, "ws", "zod"],
  },
  { name: "tools-list-configured", maxBytes: 40_000, without: [...HOST, "ws", "zod"] },
  {
    name: "run-environment",
    maxBytes: 308_000,
    without: ["agent", "commander", "policy", "shell-analysis", "starlark"],
  },
  { name: "exec-configured", maxBytes: 35_000, without: ["commander", "ws"] },
  {
    name: "mcp-server",
    // What answers the first request: nothing that takes long to load.
    maxBytes: 16_900,
    without: ["@modelcontextprotocol/core", "@modelcontextprotocol/server", "orchestrator", "zod"],
  },
  {
    name: "mcp-server-initialized",
    maxBytes: 610_000,
    // Of the orchestrator and its connections only the error classes.
    without: [...HOST, "agent", "audit", "commander", "environments", "native", "shell-analysis", "toml", "ws"],
  },
  { name: "exec", maxBytes: 1_318_000, without: ["commander", "mcp-client", "ws"] },
])("what codex $name loads", ({ name, maxBytes, without }) => {
  it("has no code of packages that it does not need", () => {
    expect(packs[name]?.packages.filter((each) => without.includes(each))).toEqual([]);
  });

  it(`has at most ${maxBytes} bytes`, () => {
    expect(packs[name]?.bytes).toBeGreaterThan(10_000);
    expect(packs[name]?.bytes).toBeLessThanOrEqual(maxBytes);
  });
});

/** Environments that are all down. */
const DOWN = Array.from(
  { length: 20 },
  (_, index) => `[[environments]]\nid = "e${index}"\nurl = "ws://127.0.0.1:9"\n`,
).join("");

const parts = fileURLToPath(new URL("../dist/parts/", import.meta.url));
const ending = `.${process.versions.v8}-${process.arch}.cache`;
const compiled = readdirSync(parts).filter((file) => file.endsWith(ending));
const OTHER_BUILD = compiled.length === 0 ? " (skipped: another version of Node has built the command)" : "";

describe.skipIf(OTHER_BUILD !== "")(`the code that the build has compiled${OTHER_BUILD}`, () => {
  it("is there for each pack", () => {
    expect(compiled).toEqual(expect.arrayContaining(Object.keys(packs).map((name) => `${name}.pack.cjs${ending}`)));
  });

  // In a process of its own: V8 compares its flags, and a test runner may have set some.
  it("is used by V8", () => {
    const program = `
      const { readFileSync } = require("fs");
      const files = process.argv.slice(1);
      const rejected = files.filter((file) => {
        const cachedData = readFileSync(file + ${JSON.stringify(ending)});
        return new (require("vm").Script)(readFileSync(file, "latin1"), { cachedData }).cachedDataRejected;
      });
      process.stdout.write(JSON.stringify(rejected));`;
    const files = compiled.map((cache) => join(parts, cache.slice(0, -ending.length)));
    expect(execFileSync(process.execPath, ["-e", program, ...files], { encoding: "utf8" })).toBe("[]");
  });
});

describe.skipIf(OTHER_BUILD !== "")(`the files that are read of the build${OTHER_BUILD}`, () => {
  /** Those in `parts`, without compiled code, in order; with an input also `stdout` where the command writes to it. */
  function readBy(args: readonly string[], { environments = "", input = "" } = {}): string[] {
    const directory = mkdtempSync(join(tmpdir(), "codex reads-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [hook, list, home] = [join(directory, "hook.cjs"), join(directory, "list"), join(directory, "home")];
    mkdirSync(home);
    if (environments !== "") writeFileSync(join(home, "environments.toml"), environments);
    const program = `
      const fs = require("fs");
      const { readFileSync, writeSync } = fs;
      fs.readFileSync = (file, ...rest) => {
        if (/[\\\\/]parts[\\\\/][^\\\\/]+\\.cjs$/.test(String(file))) fs.appendFileSync(${JSON.stringify(list)}, file + "\\n");
        return readFileSync(file, ...rest);
      };
      fs.writeSync = (fd, ...rest) => {
        if (fd === 1 && ${input !== ""}) fs.appendFileSync(${JSON.stringify(list)}, "stdout\\n");
        return writeSync(fd, ...rest);
      };`;
    writeFileSync(hook, program);
    const env = { ...process.env, CODEX_HOME: home };
    const stdio: StdioOptions = ["pipe", "ignore", "ignore"];
    execFileSync(process.execPath, ["-r", hook, codex, ...args], { stdio, input, env, cwd: directory });
    return readFileSync(list, "utf8")
      .trimEnd()
      .split("\n")
      .map((file) => basename(file));
  }

  it.each([
    ["run", ["run", "--", "true"]],
    ["tools-list", ["tools", "list"]],
  ])(
    "are the pack of %s, and one more where environments are configured and this host is the default",
    (name, args) => {
      expect(readBy(args)).toEqual([`${name}.pack.cjs`]);
      expect(readBy(args, { environments: DOWN })).toEqual([`${name}.pack.cjs`, `${name}-configured.pack.cjs`]);
    },
  );

  it.each([
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }],
    [
      "server/discover",
      {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    ],
  ])("are the smallest pack of mcp-server before the response to %s, and the SDK after it", (method, params) => {
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 0, method, params })}\n`;
    const files = readBy(["mcp-server"], { input }).slice(0, 3);
    expect(files).toEqual(["mcp-server.pack.cjs", "stdout", "mcp-server-initialized.pack.cjs"]);
  });
});

/** Modules of Node that a command has loaded when it ends, beyond those that Node loads by itself. */
function modulesOf(args: readonly string[], environments?: string): string[] {
  const directory = mkdtempSync(join(tmpdir(), "codex modules-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [hook, list] = [join(directory, "hook.cjs"), join(directory, "list")];
  writeFileSync(
    hook,
    `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join("\\n")));`,
  );
  if (environments !== undefined) writeFileSync(join(directory, "environments.toml"), environments);
  const env = { ...process.env, CODEX_HOME: directory };
  const run = (words: readonly string[]) => {
    execFileSync(process.execPath, ["-r", hook, ...words], { stdio: "ignore", env });
    return readFileSync(list, "utf8").split("\n");
  };
  const always = new Set(run(["-e", "0"]));
  return run([codex, ...args]).filter((name) => !always.has(name));
}

const nativeNames = (...names: string[]) => names.map((name) => `NativeModule ${name}`);

describe("modules of Node that are loaded", () => {
  it("for a program of this host: no network, no compression, no keys, no second way to start programs", () => {
    const loaded = modulesOf(["run", "--", "true"]);
    expect(loaded).toContain("NativeModule net"); // pipes
    const needless = nativeNames(
      "child_process",
      "crypto",
      "http",
      "https",
      "tls",
      "zlib",
      "readline",
      "fs/promises",
      "internal/deps/undici/undici",
    );
    expect(loaded.filter((name) => needless.includes(name))).toEqual([]);
  });

  it("for the tools of this host: no pipes, no programs, no keys", () => {
    const loaded = modulesOf(["tools", "list"]);
    expect(loaded).toContain("NativeModule stream");
    expect(loaded.filter((name) => nativeNames("child_process", "crypto", "dgram", "net").includes(name))).toEqual([]);
    expect(modulesOf(["tools", "list"], DOWN)).toEqual(loaded);
  });

  it("for a websocket without TLS: no HTTP, no TLS, no compression, no keys", async () => {
    const executor = spawn(process.execPath, [codex, "executor", "--listen", "ws://127.0.0.1:0"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void executor.kill());
    const [url] = (await once(createInterface({ input: executor.stdout }), "line")) as [string];
    const loaded = modulesOf(["run", "--executor", url, "--", "true"]);
    expect(loaded).toContain("NativeModule net");
    const needless = nativeNames("http", "https", "tls", "zlib", "crypto", "readline");
    expect(loaded.filter((name) => needless.includes(name))).toEqual([]);
  });
});
