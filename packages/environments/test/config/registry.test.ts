import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadEnvironments } from "../../src/config/load-environments.js";

async function load(toml: string, name = "environments-ts.toml") {
  const home = mkdtempSync(join(tmpdir(), "codex home "));
  onTestFinished(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, name), `[[environments]]\nid = "gpu"\n${toml}\n`);
  const { environments } = await loadEnvironments({ home, env: {} });
  return environments[0];
}

it("an environment of our file may be behind a registry", async () => {
  expect(await load('registry = " https://meet.example.com/x/ "')).toMatchObject({
    kind: "noise",
    registryUrl: "https://meet.example.com/x/",
    environmentId: "gpu",
  });
  expect(
    await load(
      'registry = "https://meet.example.com"\nenvironment = "pool"\nlabels = { gpu = "h100" }\nauth_bearer_token_env = "T"\nca_file = "ca.pem"',
    ),
  ).toMatchObject({
    environmentId: "pool",
    labels: { gpu: "h100" },
    token: { kind: "variable", name: "T" },
    caFile: expect.stringMatching(/ca\.pem$/),
  });
  expect(await load('registry = "http://127.0.0.1:1"\nlabels = { gpu = "h100" }')).toMatchObject({ environmentId: "" });
});

it.each([
  ["Codex's file", 'registry = "https://x"', "Codex does not know it", "environments.toml"],
  ["a URL besides", 'registry = "https://x"\nurl = "ws://x"', "needs either"],
  ["another scheme", 'registry = "ws://x"', "expected an https:// or http:// URL"],
  ["an environment that is no id", 'registry = "https://x"\nenvironment = "a/b"', "1 to 256 letters"],
  ["a token without TLS", 'registry = "http://x"\nauth_bearer_token = "secret-1"', "would travel unencrypted"],
  ["labels of a URL", 'url = "ws://127.0.0.1:1"\nlabels = { a = "b" }', "needs `registry`"],
  ["a program's keys", 'registry = "https://x"\nargs = []', "is not used with `registry`"],
])("with %s it is an error", async (_what, toml, rule, file?: string) => {
  const error = await load(toml, file).then(
    () => undefined,
    (cause: Error) => cause,
  );
  expect(error?.message).toContain(rule);
  expect(error?.message).not.toContain("secret-1");
});
