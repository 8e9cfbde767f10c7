import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it } from "vitest";
import { CLOSING_CASES, CLOSING_PROFILE, MODE_CASES, NARROW_CASES, NARROW_PROFILE, type Places } from "./cases.js";
import { codexServer, observe, ownServer, type ServerCommand } from "./observe.js";

const binary = process.env.CODEX_BINARY;
const { kind, problem } = await createCommandSandbox().getSupport();
const reason = binary === undefined ? "needs CODEX_BINARY" : problem;

/** Cases by name, with what was told or what should be. */
const byName = <One extends { name: string }>(
  cases: readonly One[],
  tell: (one: One, at: number) => string | undefined,
) => Object.fromEntries(cases.map((one, at) => [one.name, tell(one, at)]));
const scriptsOf = (cases: readonly { script: Parameters<typeof observe>[2][number] }[]) =>
  cases.map(({ script }) => script);

describe.skipIf(reason !== undefined)(`the real Codex client in a sandbox (${reason ?? kind})`, () => {
  describe.each(["workspace-write", "read-only"] as const)("%s", (sandbox) => {
    const run = (server: ServerCommand) => observe(binary!, server, scriptsOf(MODE_CASES), { sandbox });

    it("sees on our exec-server what the table says", async () => {
      const told = await run(ownServer);
      expect(byName(MODE_CASES, (_one, at) => told[at])).toEqual(byName(MODE_CASES, (one) => one[sandbox]));
    });

    it("sees the same on that of Codex, but for what is listed", async () => {
      const told = await run(codexServer(binary!));
      const wanted = byName(MODE_CASES, (one) => one.codex?.told ?? one[sandbox]);
      expect(byName(MODE_CASES, (_one, at) => told[at])).toEqual(wanted);
    });
  });

  describe.each([
    ["closing", CLOSING_CASES, ({ outside }: Places) => CLOSING_PROFILE(outside)],
    ["narrow", NARROW_CASES, () => NARROW_PROFILE],
  ] as const)("a profile of permissions: %s", (profile, cases, tables) => {
    const run = (server: ServerCommand) =>
      observe(binary!, server, scriptsOf(cases), (places) => ({
        sandbox: undefined,
        config: { keys: `default_permissions = "${profile}"`, tables: tables(places) },
      }));

    it("sees on our exec-server what the table says", async () => {
      const told = await run(ownServer);
      expect(byName(cases, (_one, at) => told[at])).toEqual(byName(cases, (one) => one.told));
    });

    it("sees the same on that of Codex, but for what is listed", async () => {
      const told = await run(codexServer(binary!));
      expect(byName(cases, (_one, at) => told[at])).toEqual(byName(cases, (one) => one.codex?.told ?? one.told));
    });
  });
});
