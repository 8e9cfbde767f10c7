import { expect, it } from "vitest";
import { selectEnvironment } from "../src/index.js";

const COMMAND = { PATH: "/usr/bin", HOME: "/home/u", LANG: "C", GIT_DIR: "set for the command" };

it.each([
  ["what is as it was", COMMAND, []],
  ["what shells count", { ...COMMAND, SHLVL: "2", COLUMNS: "80" }, []],
  ["where a shell is, silently", { ...COMMAND, PWD: "/x", OLDPWD: "/y", _: "/usr/bin/env" }, []],
  ["another PATH", { ...COMMAND, PATH: "/ws/bin:/usr/bin" }, ["PATH"]],
  ["code to load", { ...COMMAND, LD_PRELOAD: "/ws/evil.so" }, ["LD_PRELOAD"]],
  ["a locale that is a file", { ...COMMAND, LC_ALL: "/ws/locale" }, ["LC_ALL"]],
  ["a time zone that is a file", { ...COMMAND, TZ: ":/ws/zone" }, ["TZ"]],
  ["a value of any length", { ...COMMAND, CI: "1".repeat(65) }, ["CI"]],
])("takes from the caller: %s", (_, caller, dropped) => {
  const selected = selectEnvironment(COMMAND, caller);
  expect(selected.dropped).toEqual(dropped);
  for (const name of dropped) expect(selected.env[name]).toBe((COMMAND as Record<string, string>)[name]);
});

it("keeps what the command was started with and its caller lacks", () => {
  expect(selectEnvironment(COMMAND, {}).env).toEqual(COMMAND);
});

it("takes what a rule names, whole or by its beginning", () => {
  const caller = { ...COMMAND, GIT_AUTHOR_NAME: "u", GIT_AUTHOR_EMAIL: "e", GIT_SSH: "/ws/ssh", TOKEN: "t" };
  const { env, dropped } = selectEnvironment(COMMAND, caller, ["GIT_AUTHOR_*", "TOKEN"]);
  expect(env).toEqual({ ...COMMAND, GIT_AUTHOR_NAME: "u", GIT_AUTHOR_EMAIL: "e", TOKEN: "t" });
  expect(dropped).toEqual(["GIT_SSH"]);
});
