// Every rule of both files, by the line, the key and the value that its error names.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type ConfigProblem, EnvironmentsConfigError, loadEnvironments } from "../../src/index.js";

async function findProblem(codex: string | undefined, ours: string | undefined): Promise<ConfigProblem> {
  const home = mkdtempSync(join(tmpdir(), "codex home "));
  onTestFinished(() => rmSync(home, { recursive: true }));
  if (codex !== undefined) writeFileSync(join(home, "environments.toml"), codex);
  if (ours !== undefined) writeFileSync(join(home, "environments-ts.toml"), ours);
  const error = await loadEnvironments({ home, env: {} }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(EnvironmentsConfigError);
  const { problem, message } = error as EnvironmentsConfigError; // its class was checked
  for (const part of [problem.file, problem.key, problem.value, problem.rule])
    if (part !== undefined) expect(message).toContain(part);
  expect(message).not.toContain("s3cret");
  return { ...problem, file: problem.file?.slice(home.length + 1) ?? "" };
}

/** The table under test begins on line 3 of each file. */
const TOP = "# a comment\n\n";
const env = (...lines: string[]) => `${TOP}[[environments]]\n${lines.map((line) => `${line}\n`).join("")}`;
const web = (...lines: string[]) => env('id = "a"', 'url = "wss://h"', ...lines);
const program = (...lines: string[]) => env('id = "a"', 'program = "p"', ...lines);

/** Text, line, key, value. Values that may be secret are shown only as their type. */
const BOTH: [text: string, line: number, key: string | undefined, value: string | undefined][] = [
  [`${TOP}defaults = 1\n`, 3, "defaults", undefined],
  [`${TOP}default = 5\n`, 3, "default", "5"],
  [`${TOP}default = " "\n`, 3, "default", '" "'],
  [`${TOP}default = "zz"\n`, 3, "default", '"zz"'],
  [`${TOP}include_local = "yes"\n`, 3, "include_local", '"yes"'],
  [`${TOP}include_local = false\ndefault = "local"\n`, 4, "default", '"local"'],
  [`${TOP}environments = 5\n`, 3, "environments", "a number"],
  [`${TOP}[environments]\n`, 3, "environments", "a table"],
  [`${TOP}environments = [1]\n`, 3, "environments", "a number"],
  [env('url = "ws://h"'), 3, "environments", undefined],
  [env('id = "a"'), 3, "environments", undefined],
  [env('id = "a"', 'url = "ws://h"', 'program = "p"'), 3, "environments", undefined],
  [env('id = ""', 'url = "ws://h"'), 4, "environments.id", '""'],
  [env('id = "a b"', 'url = "ws://h"'), 4, "environments.id", '"a b"'],
  [env('id = "local"', 'url = "ws://h"'), 4, "environments.id", '"local"'],
  [env('id = "NoNe"', 'url = "ws://h"'), 4, "environments.id", '"NoNe"'],
  [env(`id = "${"x".repeat(65)}"`, 'url = "ws://h"'), 4, "environments.id", `"${"x".repeat(65)}"`],
  [env("id = 5", 'url = "ws://h"'), 4, "environments.id", "5"],
  [`${web()}\n[[environments]]\nurl = "ws://h"\nid = "a"\n`, 9, "environments.id", '"a"'],
  [web("urls = 1"), 6, "environments.urls", undefined],
  [env('id = "a"', "url = 5"), 5, "environments.url", "5"],
  [env('id = "a"', 'url = " "'), 5, "environments.url", '" "'],
  [env('id = "a"', 'url = "http://u:s3cret@h?s3cret"'), 5, "environments.url", '"http://h"'],
  [env('id = "a"', 'url = "ws://"'), 5, "environments.url", '"ws://"'],
  [env('id = "a"', 'url = "ws://h h"'), 5, "environments.url", '"ws://h h"'],
  [web("auth_bearer_token = 5"), 6, "environments.auth_bearer_token", "a number"],
  [web('auth_bearer_token = "s3cret\\n"'), 6, "environments.auth_bearer_token", "a string"],
  [env('id = "a"', 'url = "ws://h"', 'auth_bearer_token = "s3cret"'), 6, "environments.auth_bearer_token", "a string"],
  [web('args = ["s3cret"]'), 6, "environments.args", "a list"],
  [web('env = { A = "s3cret" }'), 6, "environments.env", "a table"],
  [web('cwd = "x"'), 6, "environments.cwd", "a string"],
  [web("connect_timeout_sec = -1"), 6, "environments.connect_timeout_sec", "-1"],
  [web("connect_timeout_sec = nan"), 6, "environments.connect_timeout_sec", "NaN"],
  [web('initialize_timeout_sec = "1"'), 6, "environments.initialize_timeout_sec", '"1"'],
  [web("skills = 5"), 6, "environments.skills", "a number"],
  [web("skills = { required = [5] }"), 6, "environments.skills.required", "a list whose element 1 is a number"],
  [web("skills = { require = [] }"), 6, "environments.skills.require", undefined],
  [env('id = "a"', 'program = " "'), 5, "environments.program", '" "'],
  [env('id = "a"', "program = 5"), 5, "environments.program", "5"],
  [program("args = 5"), 6, "environments.args", "a number"],
  [program('args = ["s3cret", 5]'), 6, "environments.args", "a list whose element 2 is a number"],
  [program("env = []"), 6, "environments.env", "a list"],
  [program("env = { A = 5 }"), 6, "environments.env", "a table whose `A` is a number"],
  [program("cwd = 5"), 6, "environments.cwd", "5"],
  [program('auth_bearer_token = "s3cret"'), 6, "environments.auth_bearer_token", "a string"],
  [program("connect_timeout_sec = 5"), 6, "environments.connect_timeout_sec", "a number"],
  ["a = 1\na = 2\n", 2, undefined, undefined],
  ["a = \n", 1, undefined, undefined],
];

for (const [name, of] of [
  ["environments.toml", (text: string) => findProblem(text, undefined)],
  ["environments-ts.toml", (text: string) => findProblem(undefined, text)],
] as const) {
  it.each(BOTH)(`${name}: %j`, async (text, line, key, value) => {
    const problem = await of(text);
    expect([problem.file, problem.line, problem.key, problem.value]).toEqual([name, line, key, value]);
    expect(problem.rule).not.toBe("");
  });
}

const SSH = env('id = "a"', 'url = "ssh://h"');

it.each([
  [env('id = "a"', 'url = "ssh://h:0"'), 5, "environments.url", '"ssh://h:0"'],
  [env('id = "a"', 'url = "ssh://u:s3cret@h"'), 5, "environments.url", '"ssh://h"'],
  [env('id = "a"', 'url = "ssh://-o"'), 5, "environments.url", '"ssh://-o"'],
  [`${SSH}auth_bearer_token = "s3cret"\n`, 6, "environments.auth_bearer_token", "a string"],
  [`${SSH}auth_bearer_token_env = "T"\n`, 6, "environments.auth_bearer_token_env", "a string"],
  [`${SSH}ca_file = "f"\n`, 6, "environments.ca_file", "a string"],
  [`${SSH}env_inherit = ["A"]\n`, 6, "environments.env_inherit", "a list"],
  [`${SSH}fallback = "a"\n`, 6, "environments.fallback", '"a"'],
  [`${SSH}fallback = "zz"\n`, 6, "environments.fallback", '"zz"'],
  [`${SSH}fallback = 5\n`, 6, "environments.fallback", "5"],
  [`${SSH}eager = 1\n`, 6, "environments.eager", "1"],
  [web('auth_bearer_token_env = "1 s"'), 6, "environments.auth_bearer_token_env", '"1 s"'],
  [web('auth_bearer_token = "x"', 'auth_bearer_token_env = "T"'), 7, "environments.auth_bearer_token_env", "a string"],
  [env('id = "a"', 'url = "ws://h"', 'ca_file = "f"'), 6, "environments.ca_file", '"f"'],
  [program("env_inherit = [1]"), 6, "environments.env_inherit", "a list whose element 1 is a number"],
  [`${TOP}extend = 5\n`, 3, "extend", "a number"],
  [`${TOP}[extend]\nb = 5\n`, 4, "extend.b", "a number"],
  [`${TOP}[extend.b]\neager = true\n`, 3, "extend.b", undefined],
  [`${TOP}[extend.far]\nfallback = "zz"\n`, 4, "extend.far.fallback", '"zz"'],
  [`${TOP}[extend.far]\nid = "x"\n`, 4, "extend.far.id", undefined],
  [`${TOP}default = "far"\n`, 3, "default", '"far"'],
  [env('id = "far"', 'url = "ws://h"'), 4, "environments.id", '"far"'],
] as const)("environments-ts.toml with environments.toml: %j", async (text, line, key, value) => {
  const problem = await findProblem('default = "none"\n[[environments]]\nid = "far"\nurl = "ws://h"\n', text);
  expect([problem.file, problem.line, problem.key, problem.value]).toEqual(["environments-ts.toml", line, key, value]);
});

it.each(["auth_bearer_token_file", "auth_bearer_token_env", "ca_file", "fallback", "eager", "env_inherit"])(
  "environments.toml: where `%s` belongs",
  async (key) => {
    const problem = await findProblem(web(`${key} = "x"`), undefined);
    expect(problem).toMatchObject({
      line: 6,
      key: `environments.${key}`,
      rule: expect.stringContaining("environments-ts.toml"),
    });
  },
);
