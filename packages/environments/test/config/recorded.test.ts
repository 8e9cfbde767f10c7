// How Codex 0.169.0 interprets each file, as recorded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type EnvironmentsConfig, listIds, loadEnvironments } from "../../src/index.js";

interface Case {
  name: string;
  toml?: string;
  tomlBase64?: string;
  outcome: "accept" | "reject";
  mentions?: string[];
  default?: string | null;
  thread?: string[];
  known?: string[];
  observed?: { program?: { argv: string[]; cwd: string; env: Record<string, string> } };
}

const recorded = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8")) as Case[]; // its shape is fixed
const [, ...cases] = recorded;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "codex home "));
});
afterEach(() => rmSync(home, { recursive: true }));

/** All known ids, whether or not a conversation uses them. */
const listKnown = ({ environments, includeLocal }: EnvironmentsConfig) =>
  [...environments.map(({ id }) => id), ...(includeLocal ? ["local"] : [])].sort();

it.each(cases)("$name: $outcome", async (one) => {
  const text = Buffer.from(one.tomlBase64 ?? one.toml ?? "", one.tomlBase64 === undefined ? "utf8" : "base64");
  const placeholders = { $PORT: "9", $NODE: "/bin/node", $PROBE: "/tmp/probe" };
  const filled = Object.entries(placeholders).reduce(
    (all, [name, value]) => all.replaceAll(name, value),
    text.toString("latin1"),
  );
  writeFileSync(join(home, "environments.toml"), filled, "latin1");
  const loaded = await loadEnvironments({ home, env: { CODEX_EXEC_SERVER_URL: "none" } }).catch(
    (error: unknown) => error,
  );
  if (one.outcome === "reject") {
    expect(loaded).toMatchObject({ name: "EnvironmentsConfigError" });
    const { message } = loaded as Error; // as was just checked
    expect(message).toContain(join(home, "environments.toml"));
    for (const text of one.mentions ?? []) expect(message).toContain(text);
    expect(message).not.toContain("s3cret");
    return;
  }
  expect(loaded).not.toBeInstanceOf(Error);
  const config = loaded as EnvironmentsConfig; // as was just checked
  const [first, ...others] = listIds(config);
  expect({ default: config.default ?? null, thread: first === undefined ? [] : [first, ...others.sort()] }).toEqual({
    default: one.default,
    thread: one.thread,
  });
  expect(listKnown(config)).toEqual(one.known);
  const command = config.environments.find(({ kind }) => kind === "command");
  const seen = one.observed?.program;
  if (seen === undefined || command?.kind !== "command") return;
  expect([command.program, command.args.slice(1), command.cwd.replace(/\/$/, ""), command.env]).toEqual([
    "/bin/node",
    seen.argv,
    seen.cwd.replace("$CODEX_HOME", home),
    seen.env,
  ]);
});
