import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listIds, loadEnvironments } from "../../src/index.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "codex home "));
});
afterEach(() => rmSync(home, { recursive: true }));

const WS = '[[environments]]\nid = "a"\nurl = "ws://127.0.0.1:1"\n';

function load({ codex, ours, env = {} }: { codex?: string; ours?: string; env?: Record<string, string> }) {
  if (codex !== undefined) writeFileSync(join(home, "environments.toml"), codex);
  if (ours !== undefined) writeFileSync(join(home, "environments-ts.toml"), ours);
  return loadEnvironments({ home, env });
}

describe("the source of configuration", () => {
  it.each([
    ["nothing", {}, ["local"], { kind: "none" }],
    ["a blank variable", { CODEX_EXEC_SERVER_URL: "  " }, ["local"], { kind: "none" }],
    ["none", { CODEX_EXEC_SERVER_URL: " NoNe " }, [], { kind: "variable", name: "CODEX_EXEC_SERVER_URL" }],
    ["a URL", { CODEX_EXEC_SERVER_URL: " foo " }, ["remote"], { kind: "variable", name: "CODEX_EXEC_SERVER_URL" }],
  ])("is %s", async (_, env, ids, source) => {
    const config = await load({ env });
    expect([listIds(config), config.source]).toEqual([ids, source]);
  });

  it("is a registry, when its three variables are set", async () => {
    const name = (part: string) => `CODEX_EXEC_SERVER_NOISE_${part}`;
    const env = {
      [name("REGISTRY_URL")]: " https://r ",
      [name("ENVIRONMENT_ID")]: "e",
      [name("AUTH_TOKEN")]: "s3cret",
    };
    const config = await load({ codex: "broken", env });
    expect(config).toMatchObject({
      default: "remote",
      includeLocal: false,
      environments: [{ kind: "noise", registryUrl: "https://r", environmentId: "e" }],
    });
    const some = await load({ env: { ...env, [name("AUTH_TOKEN")]: " " } }).catch(String);
    expect(some).toContain("CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN` is not set");
  });

  it("is the file, regardless of the variable", async () => {
    expect(listIds(await load({ codex: WS, env: { CODEX_EXEC_SERVER_URL: "none" } }))).toEqual(["local", "a"]);
  });
});

describe("environments-ts.toml", () => {
  it("adds environments, and extends those of environments.toml", async () => {
    const ours =
      'default = "box"\n[[environments]]\nid = "box"\nurl = "ssh://me@box/srv"\neager = true\n' +
      '[extend.a]\nfallback = "local"\nauth_bearer_token_env = "A_TOKEN"\n';
    const config = await load({ codex: WS, ours });
    expect(listIds(config)).toEqual(["box", "local", "a"]);
    expect(config.environments).toMatchObject([
      { id: "a", fallback: "local", token: { kind: "variable", name: "A_TOKEN" } },
      { id: "box", kind: "ssh", eager: true },
    ]);
  });

  it("names the permission profile of an environment", async () => {
    const ours = '[extend.a]\npermission_profile = "dev"\n';
    const { environments } = await load({ codex: WS, ours });
    expect(environments[0]?.permissionProfile).toEqual({
      name: "dev",
      file: expect.stringMatching(/environments-ts\.toml$/),
      line: 2,
    });
    await expect(load({ codex: `${WS}permission_profile = "dev"\n` })).rejects.toThrow(/environments-ts\.toml/);
  });

  it("works without environments.toml", async () => {
    const command = '[[environments]]\nid = "c"\nprogram = "x"\nenv_inherit = ["SSH_AUTH_SOCK"]\n';
    const config = await load({ ours: `include_local = false\ndefault = "c"\n${command}` });
    expect(config).toMatchObject({
      default: "c",
      includeLocal: false,
      environments: [{ envInherit: ["SSH_AUTH_SOCK"] }],
    });
  });

  it("leaves the default to a variable", async () => {
    const ours = 'default = "c"\n[[environments]]\nid = "c"\nprogram = "x"\n';
    expect(listIds(await load({ ours, env: { CODEX_EXEC_SERVER_URL: "ws://h" } }))).toEqual(["remote", "c"]);
  });

  const WSS = '[[environments]]\nid = "a"\nurl = "wss://h"\n';
  it.each([
    ["a default that the other has", `default = "none"\n${WS}`, 'default = "a"\n', 1, "decides"],
    ["an id of the other", WS, `\n${WS}`, 3, "environments.toml:1"],
    ["an addition to nothing", WS, '[extend.b]\nfallback = "a"\n', 1, "no such environment"],
    ["itself as a fallback", WS, '[extend.a]\nfallback = "a"\n', 2, "itself"],
    ["a fallback that is not there", WS, '[extend.a]\nfallback = "zz"\n', undefined, '"zz"'],
    ["a profile without a name", WS, '[extend.a]\npermission_profile = ""\n', 2, "the name of a profile"],
    ["a key that is not there", WS, "[extend.a]\n\nurl = 5\n", 3, "`extend.a.url`"],
    [
      "a token for everybody to read",
      '[[environments]]\nid="a"\nurl="ws://h"\n',
      '[extend.a]\nauth_bearer_token_env="T"\n',
      2,
      "unencrypted",
    ],
    [
      "two tokens",
      WSS,
      '[extend.a]\nauth_bearer_token_env="T"\nauth_bearer_token_file="f"\n',
      3,
      "another bearer token",
    ],
    ["certificates without TLS", WS, '[extend.a]\nca_file="f"\n', 2, "wss://"],
    [
      "an ssh URL that is none",
      "",
      '[[environments]]\nid="s"\nurl="ssh://-oProxyCommand=x"\n',
      3,
      "the host has a character",
    ],
  ])("cannot have %s", async (_, codex, ours, line, text) => {
    const message = await load({ codex, ours }).catch(String);
    expect(message).toContain(text);
    if (line !== undefined) expect(message).toContain(`environments-ts.toml:${line}: `);
  });
});

describe("an error", () => {
  it.each([
    [
      '[[environments]]\nid = "x"\nprogram = "p"\n\n[[environments]]\nid = "a"\n\nurl = "http://u:s3cret@h/p?k=s3cret#s3cret"\n',
      8,
      '`environments.url` is "http://h/p"; expected',
    ],
    [`${WS}auth_bearer_token = 5\n`, 4, "`environments.auth_bearer_token` is a number; expected"],
    [`${WS}connect_timeout_sec = -1\n`, 4, "`environments.connect_timeout_sec` is -1; expected seconds"],
    [`${WS}fallback = "b"\n`, 4, "environments-ts.toml"],
    [`${WS}[environments.skills]\nrequire = []\n`, 5, "`environments.skills.require` is not a key here"],
    ['[[environments]]\nid = "a"\nprogram = "p"\nenv = { T = 5, U = "s3cret" }\n', 4, "whose `T` is a number"],
    ['[[environments]]\nid = "a"\nurl = "ssh://h"\n', 3, "environments-ts.toml"],
    ["environments = [\n", 2, "environments.toml"],
    [`default = "zz"\n${WS}`, 1, '`default` is "zz"; no environment has this id; there is `local`, `a`'],
  ])("of %j names the line, the key, the value and the rule", async (codex, line, text) => {
    const message = await load({ codex }).catch(String);
    expect(message).toContain(`${join(home, "environments.toml")}:${line}: `);
    expect(message).toContain(text);
    expect(message).not.toContain("s3cret");
  });
});
