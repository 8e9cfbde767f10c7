// `capabilities/discoverV2`: the skills and plugins of a host. What is expected was recorded from the exec-server of Codex 0.169.0, and is
// compared with it where `CODEX_BINARY` names it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CODEX_BINARY } from "./real-client/support.js";
import { codex } from "./support.js";

const { kind } = await createCommandSandbox().getSupport();
let base = "";
const skill = (name: string, more = "") => `---\nname: ${name}\ndescription: about ${name}\n${more}---\ntext\n`;
const SKILLS = "home/.codex/skills";
const CACHE = "home/.codex/plugins/cache/mkt";
const manifest = (plugin: string, contents: object | string, directory = ".codex-plugin"): [string, string] => [
  `${CACHE}/${plugin}/${directory}/plugin.json`,
  typeof contents === "string" ? contents : JSON.stringify(contents),
];

const FILES: readonly (readonly [path: string, text: string])[] = [
  [`${SKILLS}/plain/SKILL.md`, skill("plain")],
  [`${SKILLS}/.hidden/SKILL.md`, skill("hidden")],
  [`${SKILLS}/a/b/nested/SKILL.md`, skill("nested")],
  [`${SKILLS}/1/2/3/4/5/6/SKILL.md`, skill("deep")],
  [`${SKILLS}/1/2/3/4/5/6/7/SKILL.md`, skill("deeper")],
  [`${SKILLS}/unnamed/SKILL.md`, "---\ndescription: d\n---\n"],
  [`${SKILLS}/mute/SKILL.md`, "---\nname: mute\n---\n"],
  [`${SKILLS}/open/SKILL.md`, "---\nname: open\ndescription: d\n"],
  [`${SKILLS}/lower/skill.md`, skill("lower")],
  [`${SKILLS}/n64/SKILL.md`, skill("n".repeat(64))],
  [`${SKILLS}/n65/SKILL.md`, skill("n".repeat(65))],
  [`${SKILLS}/odd/SKILL.md`, "---\r\nname: a b:c/ü\r\ndescription: a: b\r\n---\r\n"],
  [`${SKILLS}/tools/SKILL.md`, skill("tools", "metadata:\n  short-description: short\n")],
  [
    `${SKILLS}/tools/agents/openai.yaml`,
    "policy:\n  allow_implicit_invocation: false\ndependencies:\n  tools:\n    - type: mcp\n      value: v\n      url: http://x\n",
  ],
  [`${SKILLS}/wrong/SKILL.md`, skill("wrong")],
  [`${SKILLS}/wrong/agents/openai.yaml`, "policy: ["],
  ["home/.agents/skills/mine/SKILL.md", skill("mine")],
  manifest("v/1.10.0", { name: "v" }),
  manifest("v/1.9.0", { name: "v" }),
  manifest("local/1.0.0", { name: "local" }),
  manifest("local/local", { name: "local" }),
  manifest("broken/1", "{"),
  manifest("shown/1", { name: "shown", interface: { displayName: "Shown!" } }),
  manifest("nameless/1", {}),
  manifest("claude/1", { name: "claude" }, ".claude-plugin"),
  manifest("standard/1", { name: "standard" }),
  [`${CACHE}/standard/1/.mcp.json`, '{"mcpServers":{}}'],
  [`${CACHE}/standard/1/.app.json`, "{}"],
  [`${CACHE}/standard/1/skills/s/SKILL.md`, skill("s")],
  manifest("lists/1", { name: "lists", skills: ["./a", "./b"] }),
  [`${CACHE}/lists/1/a/q/SKILL.md`, skill("q")],
  manifest("inline/1", { name: "inline", mcpServers: { x: { command: "y" } } }),
  manifest("outside/1", { name: "outside", skills: "../../../../skills", mcpServers: "/etc/passwd" }),
];

beforeAll(() => {
  base = realpathSync(mkdtempSync("/var/tmp/codex-discovery-"));
  for (const [path, text] of FILES) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  symlinkSync(join(base, SKILLS, "plain"), join(base, SKILLS, "link"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Result {
  plugins: {
    id: string;
    displayName: string;
    version: string;
    files: Record<string, { contents: string } | null>;
    skills: { name: string }[];
  }[];
  skills: {
    name: string;
    description: string;
    shortDescription: string | null;
    path: string;
    discoveryRoot: { id: string };
  }[];
  warnings: string[];
}

async function discover(argv: readonly string[], params: object): Promise<Result> {
  const [file = "", ...args] = argv;
  const env = { PATH: process.env.PATH, HOME: join(base, "home") };
  const child = spawn(file, [...args, "exec-server", "--listen", "stdio"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  try {
    send({ id: 1, method: "initialize", params: { clientName: "test" } });
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result, error } = JSON.parse(line) as { id: number; result?: unknown; error?: { message: string } };
      if (error !== undefined) throw new Error(error.message);
      if (id === 2) return result as Result;
      send({ method: "initialized", params: {} });
      send({ id: 2, method: "capabilities/discoverV2", params });
    }
    throw new Error("no answer");
  } finally {
    child.kill();
  }
}
const ours = [process.execPath, codex];
const cwd = "file:///";
/** Reads what programs need, and one directory. */
const reading = (path: string) => ({
  permissions: {
    type: "managed",
    file_system: {
      type: "restricted",
      entries: [
        { path: { type: "special", value: { kind: "minimal" } }, access: "read" },
        { path: { type: "path", path: `file://${base}/${path}` }, access: "read" },
      ],
    },
    network: "restricted",
  },
  cwd: `file://${base}`,
  windowsSandboxLevel: "disabled",
});

describe("capabilities/discoverV2", () => {
  it("lists the skills of a host by their places", async () => {
    const { skills, warnings } = await discover(ours, { cwd });
    const listed = skills.map(({ name, path, discoveryRoot }) => [
      discoveryRoot.id,
      name,
      path.slice(`file://${base}/home/`.length),
    ]);
    expect(listed.filter(([id]) => id !== "system-skills")).toEqual([
      ["codex-home-skills", "hidden", ".codex/skills/.hidden/SKILL.md"],
      ["codex-home-skills", "deep", ".codex/skills/1/2/3/4/5/6/SKILL.md"],
      ["codex-home-skills", "nested", ".codex/skills/a/b/nested/SKILL.md"],
      // Of one directory the first path.
      ["codex-home-skills", "plain", ".codex/skills/link/SKILL.md"],
      ["codex-home-skills", "n".repeat(64), ".codex/skills/n64/SKILL.md"],
      ["codex-home-skills", "a b:c/ü", ".codex/skills/odd/SKILL.md"],
      ["codex-home-skills", "tools", ".codex/skills/tools/SKILL.md"],
      ["codex-home-skills", "unnamed", ".codex/skills/unnamed/SKILL.md"],
      ["codex-home-skills", "wrong", ".codex/skills/wrong/SKILL.md"],
      ["user-agent-skills", "mine", ".agents/skills/mine/SKILL.md"],
    ]);
    expect(skills.find(({ name }) => name === "tools")).toMatchObject({
      description: "about tools",
      shortDescription: "short",
      dependencies: { tools: [{ type: "mcp", value: "v", url: "http://x", command: null, oauthCallbackPort: null }] },
      policy: { allowImplicitInvocation: false, products: [] },
    });
    const at = (path: string) => join(base, path);
    expect(warnings.toSorted()).toEqual(
      [
        `${at(`${SKILLS}/mute/SKILL.md`)} is no skill: it has no front matter with a description`,
        `${at(`${SKILLS}/open/SKILL.md`)} is no skill: it has no front matter with a description`,
        `${at(`${SKILLS}/n65/SKILL.md`)} is no skill: its name has more than 64 characters`,
        `${at(`${SKILLS}/wrong/agents/openai.yaml`)} is not as expected, and is left out`,
        `${at(`${CACHE}/broken/1/.codex-plugin/plugin.json`)} is not as expected, and is left out`,
      ].toSorted(),
    );
  });

  it("lists the newest version of each plugin, with its files and its skills", async () => {
    const { plugins } = await discover(ours, { cwd });
    expect(
      plugins.map(({ id, version, displayName, skills }) => [
        id,
        version,
        displayName,
        ...skills.map(({ name }) => name),
      ]),
    ).toEqual([
      ["claude@mkt", "1", "claude"],
      ["inline@mkt", "1", "inline"],
      ["lists@mkt", "1", "lists", "lists:q"],
      ["local@mkt", "local", "local"],
      ["nameless@mkt", "1", "1"],
      ["outside@mkt", "1", "outside"],
      ["shown@mkt", "1", "Shown!"],
      ["standard@mkt", "1", "standard", "standard:s"],
      ["v@mkt", "1.10.0", "v"],
    ]);
    const filesOf = (id: string) => plugins.find((plugin) => plugin.id === id)?.files;
    expect(filesOf("standard@mkt")).toMatchObject({
      mcpConfig: { contents: '{"mcpServers":{}}' },
      appsConfig: { contents: "{}" },
    });
    expect(filesOf("inline@mkt")?.mcpConfig?.contents).toBe('{"x":{"command":"y"}}');
    expect(filesOf("outside@mkt")?.mcpConfig).toBeNull();
  });

  it.skipIf(kind === "none")("finds no more than the sandbox of the caller lets it read", async () => {
    const skills = await discover(ours, { cwd, sandbox: reading(`${SKILLS}/plain`) });
    expect([skills.skills.map(({ name }) => name), skills.plugins, skills.warnings]).toEqual([["plain"], [], []]);
    const plugins = await discover(ours, { cwd, sandbox: reading(CACHE) });
    expect([plugins.skills, plugins.plugins.length]).toEqual([[], 9]);
  });

  it("needs a directory, and the handshake", async () => {
    await expect(discover(ours, {})).rejects.toThrow("missing field `cwd`");
    await expect(discover(ours, { cwd: "/tmp" })).rejects.toThrow();
  });

  it.skipIf(CODEX_BINARY === undefined)("answers as Codex does (needs CODEX_BINARY)", async () => {
    const sandboxes = kind === "none" ? [] : [reading(`${SKILLS}/plain`), reading(CACHE)];
    for (const sandbox of [undefined, ...sandboxes]) {
      const params = { cwd, ...(sandbox === undefined ? {} : { sandbox }) };
      const [own, real] = [await discover(ours, params), await discover([CODEX_BINARY!], params)];
      expect({ ...own, warnings: [] }).toEqual({ ...real, warnings: [] });
    }
  });
});
