// What `scripts/release` makes, and single packages, as npm installs them in a project outside of this one.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installRelease, listDependencies } from "./install-release.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** npm and a compiler take their time on a busy machine. */
const SLOW_MS = 120_000;

let project: string;
let installed: Awaited<ReturnType<typeof installRelease>>;

beforeAll(async () => {
  installed = await installRelease();
  project = installed.project;
}, SLOW_MS);
afterAll(() => rmSync(project, { recursive: true }));

/** Runs a file of the project with nothing on PATH. */
function run(file: string, cwd = project) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd, encoding: "utf8", env: { PATH: "" } });
  return { status, stdout, stderr };
}

/** What a strict TypeScript project says of files, those of their dependencies included. */
function check(...files: string[]) {
  const types = dirname(createRequire(join(root, "packages/channel/")).resolve("@types/node/package.json"));
  const tsc = join(root, "node_modules/.bin/tsc");
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2022"];
  const { stdout, status } = spawnSync(tsc, [...flags, "--types", "node", "--typeRoots", dirname(types), ...files], {
    cwd: project,
    encoding: "utf8",
  });
  return { stdout, status };
}

/** The first sample of a page. */
const readSample = (page: string): string =>
  /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, page), "utf8"))?.[1] ?? "";

const SAMPLE = `
const [ours, its] = createMemoryChannelPair();
const backend = createLocalBackend();
const served = createExecutor({ backend }).serve(its);
const policy = { approvalPolicy: "on-request", sandbox: "danger-full-access" };
const orchestrator = createOrchestrator({ policy, defaults: { login: false } });
await orchestrator.attach({ name: "here", channel: ours });
const call = { cmd: "echo one && echo two", shell: "/bin/sh" };
const result = await orchestrator.callTool("exec_command", call, { onOutput: ({ bytes }) => process.stdout.write(bytes) });
if (result.isError) throw new Error(result.text);
const terminal = await orchestrator.callTool("exec_command", { cmd: "test -t 0", shell: "/bin/sh", tty: true });
await orchestrator.close();
await served;
await backend.close();
console.log(result.structured.exitCode, terminal.structured.exitCode);
`;
const PARSER = 'import { loadShellParser } from "@codex/shell-analysis";';
/** The same in one import. */
const LOCAL_SAMPLE = `
const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false } });
const call = orchestrator.startCall("exec_command", { cmd: "echo one && echo two", shell: "/bin/sh" });
for await (const { bytes } of call.output) process.stdout.write(bytes);
const result = await call.result;
if (result.isError) throw new Error(result.text);
const terminal = await orchestrator.callTool("exec_command", { cmd: "test -t 0", shell: "/bin/sh", tty: true });
await orchestrator.close();
console.log(result.structured.exitCode, terminal.structured.exitCode);
`;
const NAMES = {
  channel: "createMemoryChannelPair",
  "process-host": "createLocalBackend",
  executor: "createExecutor",
  orchestrator: "createOrchestrator",
};
const imports = Object.entries(NAMES).map(([name, it]) => `import { ${it} } from "@codex/${name}";`);
const requires = Object.entries(NAMES).map(([name, it]) => `const { ${it} } = require("@codex/${name}");`);
const OUTPUT = "one\ntwo\n0 0\n";

describe("the released file", { timeout: SLOW_MS }, () => {
  it("is one entry in a project, which npm installs without a warning", () => {
    expect(installed.stderr).toBe("");
    const listed = spawnSync("npm", ["ls", "--json"], { cwd: project, encoding: "utf8" });
    const { dependencies } = JSON.parse(listed.stdout) as { dependencies: Record<string, unknown> };
    expect({ status: listed.status, names: Object.keys(dependencies) }).toEqual({ status: 0, names: ["codex"] });
  });

  it("takes at most 40 MB on a disk, with all it depends on", () => {
    const { stdout } = spawnSync("du", ["-sk", "node_modules"], { cwd: project, encoding: "utf8" });
    expect(parseInt(stdout, 10)).toBeGreaterThan(1000);
    expect(parseInt(stdout, 10)).toBeLessThanOrEqual(40_000);
  });

  it("comes with its checksum and a list of what is in it", () => {
    const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    const { file } = installed;
    expect(readFileSync(`${file}.sha256`, "utf8")).toBe(`${hash(file)}  ${basename(file)}\n`);
    const listed = readFileSync(`${file}.contents`, "utf8").trimEnd().split("\n");
    expect(listed.length).toBeGreaterThan(1000);
    for (const line of listed) {
      const [, wanted, path] = /^(\w{64}) {2}(.+)$/.exec(line)!;
      expect(hash(join(project, "node_modules/codex", path!)), path).toBe(wanted);
    }
  });

  it("has the command", () => {
    const command = join(project, "node_modules/.bin/codex");
    const { stdout, stderr } = spawnSync(command, ["run", "--", "echo", "hi"], { cwd: project, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "hi\n", stderr: "" });
  });

  it("runs as modules, and by require", () => {
    writeFileSync(join(project, "sample.mjs"), `${imports.join("\n")}${SAMPLE}`);
    writeFileSync(join(project, "sample.cjs"), `${requires.join("\n")}(async () => {${SAMPLE}})();`);
    for (const file of ["sample.mjs", "sample.cjs"])
      expect(run(file)).toEqual({ status: 0, stdout: OUTPUT, stderr: "" });
  });

  it("runs in one process from one import", () => {
    writeFileSync(join(project, "local.mjs"), `import { createLocalOrchestrator } from "@codex/local";${LOCAL_SAMPLE}`);
    expect(run("local.mjs")).toEqual({ status: 0, stdout: OUTPUT, stderr: "" });
  });

  it("has types that compile in a strict project without skipLibCheck", () => {
    const typed = SAMPLE.replace("const policy =", "const policy: PolicyOptions =")
      .replace("result.structured.exitCode", "result.structured?.outcome.kind")
      .replace("terminal.structured.exitCode", "terminal.structured");
    const types = 'import { type PolicyOptions } from "@codex/policy";';
    writeFileSync(join(project, "sample.ts"), `${types}\n${imports.join("\n")}${typed}`);
    // The samples of the pages compile in such a project too.
    writeFileSync(join(project, "readme.ts"), readSample("README.md"));
    writeFileSync(join(project, "library.ts"), readSample("docs/library.md"));
    expect(check("sample.ts", "readme.ts", "library.ts")).toEqual({ stdout: "", status: 0 });
  });

  it("runs the sample of the README", () => {
    const sample = readSample("README.md").replace("npm test", "echo tested");
    writeFileSync(join(project, "readme.mjs"), sample);
    expect(run("readme.mjs")).toMatchObject({ status: 0, stderr: "" });
  });

  it.each(["esm", "cjs"] as const)("can be bundled as %s, and a bundle reports missing native code", async (format) => {
    const parses = 'console.log((await loadShellParser()).parse("a | b") !== undefined);';
    const main = `async function main() {${SAMPLE}${parses}}\nmain().catch((error) => { console.error(error); process.exitCode = 1; });`;
    writeFileSync(join(project, "bundled.mjs"), `${[...imports, PARSER].join("\n")}\n${main}`);
    const name = format === "esm" ? "sample.mjs" : "sample.cjs";
    const outfile = join(project, "out", name);
    const banner = { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' };
    await build({
      entryPoints: [join(project, "bundled.mjs")],
      bundle: true,
      platform: "node",
      format,
      outfile,
      ...(format === "esm" ? { banner } : {}),
      logLevel: "silent",
    });
    const alone = mkdtempSync(join(tmpdir(), "codex alone-"));
    try {
      writeFileSync(join(alone, name), readFileSync(outfile));
      const beside = join(alone, "node_modules");
      mkdirSync(join(beside, "@vscode"), { recursive: true });
      const link = (name: string, of: string) =>
        symlinkSync(join(root, "packages", of, "node_modules", name), join(beside, name));
      link("@vscode/tree-sitter-wasm", "shell-analysis");
      expect(run(name, alone).stderr).toMatch(/native code of `koffi` cannot be loaded .* has to be installed/);
      link("koffi", "native");
      link("node-pty", "native");
      expect(run(name, alone)).toEqual({ status: 0, stdout: `${OUTPUT}true\n`, stderr: "" });
      rmSync(join(beside, "@vscode/tree-sitter-wasm"));
      expect(run(name, alone).stderr).toMatch(
        /the bash grammar was not found .*@vscode\/tree-sitter-wasm installed beside it/,
      );
    } finally {
      rmSync(alone, { recursive: true });
    }
  });

  // webpack takes these for files to copy into its output, without what they import.
  it("names no file of its own in a way that bundlers replace", () => {
    const names = readdirSync(join(project, "node_modules/codex/packages")).filter((name) => name !== "cli");
    const replaced = names.flatMap((name) => {
      const dist = join(project, "node_modules/codex/packages", name, "dist");
      const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
      const isReplaced = (file: string) =>
        /new URL\([^)]*import\.meta\.url|createRequire\(import\.meta/.test(readFileSync(join(dist, file), "utf8"));
      return files.filter(isReplaced).map((file) => `${name}/${file}`);
    });
    expect(replaced).toEqual([]);
  });
});

/** Lists a directory and runs a command on the host of an exec-server. */
const REMOTE_HOST = `
import { communicate, createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
const [, , url, directory] = process.argv;
const client = await ExecServerClient.connectWebSocket(url);
const names = (await client.fileSystem.readDirectory(directory)).map(({ fileName }) => fileName);
const backend = createRemoteBackend(client);
const command = { argv: ["/bin/cat", "b.txt"], cwd: directory, env: {}, stdio: { kind: "pipe", stdin: "null" } };
const { outcome, stdout } = await communicate(await backend.start(command));
console.log(JSON.stringify({ names: names.sort(), outcome, stdout: stdout.toString() }));
await backend.close();
await client.close();
`;

/** The same through the tools of an executor. */
const REMOTE_TOOLS = `
import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
const [, , url, directory] = process.argv;
const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = createOrchestrator({ policy, defaults: { login: false, cwd: directory } });
await orchestrator.attach({ name: "there", channel: await connectWebSocket(url) });
const run = async (cmd) => {
  let text = "";
  const onOutput = ({ bytes }) => { text += Buffer.from(bytes).toString(); };
  const result = await orchestrator.callTool("exec_command", { cmd, shell: "/bin/sh", workdir: directory }, { onOutput });
  if (result.isError) throw new Error(result.text);
  return { outcome: result.structured.outcome, text };
};
const names = (await run("ls")).text.trim().split("\\n");
const { outcome, text: stdout } = await run("cat b.txt");
console.log(JSON.stringify({ names, outcome, stdout }));
await orchestrator.close();
`;

describe("a package that reaches other hosts", { timeout: SLOW_MS }, () => {
  it.each([
    ["exec-server-client", "exec-server", REMOTE_HOST],
    ["orchestrator", "executor", REMOTE_TOOLS],
  ])("%s needs no native code", async (name, server, program) => {
    expect(listDependencies(name)).not.toContain("koffi");
    expect(listDependencies(name)).not.toContain("node-pty");
    const native = join(project, "node_modules/codex/native");
    renameSync(native, `${native}.away`);
    const served = spawn(process.execPath, [join(root, "packages/cli/dist/codex.js"), server, "--listen", LISTEN]);
    try {
      const [url] = (await once(createInterface(served.stdout), "line")) as [string];
      const directory = mkdtempSync(join(project, "listed-"));
      for (const file of ["a.txt", "b.txt"]) writeFileSync(join(directory, file), `this is ${file}\n`);
      writeFileSync(join(project, "program.mjs"), program);
      const { status, stdout, stderr } = spawnSync(process.execPath, ["program.mjs", url, directory], {
        cwd: project,
        encoding: "utf8",
        env: { PATH: "" },
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(JSON.parse(stdout)).toEqual({
        names: ["a.txt", "b.txt"],
        outcome: { kind: "exited", code: 0 },
        stdout: "this is b.txt\n",
      });
    } finally {
      const ended = once(served, "exit");
      served.kill();
      await ended;
      renameSync(`${native}.away`, native);
    }
  });
});

const LISTEN = "ws://127.0.0.1:0";
