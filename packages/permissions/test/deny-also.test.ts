import type { Sandbox } from "@codex/executor-protocol";
import { denyAlso } from "@codex/permissions";
import { expect, it } from "vitest";

type Access = "read" | "write" | "deny";
const at = (path: string, access: Access) => ({ path: { type: "path" as const, path }, access });
const matching = (pattern: string) => ({ path: { type: "glob_pattern" as const, pattern }, access: "deny" as const });
type Entries = ReturnType<typeof at> | ReturnType<typeof matching>;
const sandbox = (...entries: Entries[]): Sandbox => ({
  permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
  cwd: "/w",
  workspaceRoots: ["/w"],
});

it.each<[string, Entries[], Entries[], boolean]>([
  ["another place", [at("/data", "write")], [at("/secret", "deny")], true],
  ["a place above", [at("/", "write")], [at("/secret", "deny")], true],
  ["the same place", [at("/secret", "read")], [at("/secret", "deny")], false],
  ["a place in it", [at("/secret/part", "write")], [at("/secret", "deny")], false],
  ["a place that only begins like it", [at("/secrets", "write")], [at("/secret", "deny")], true],
  ["the directory of a pattern", [at("/w", "write")], [matching("/w/**/.env")], true],
  ["another file below a pattern", [at("/w/docs", "write")], [matching("/w/**/.env")], true],
  ["a file that a pattern finds", [at("/w/docs/.env", "read")], [matching("/w/**/.env")], false],
  ["a file that a star finds", [at("/w/a.pem", "read")], [matching("/w/*.pem")], false],
  ["anything below a class", [at("/w/a", "read")], [matching("/w/[ab]")], false],
  ["a denial of its own", [at("/secret", "deny")], [at("/secret", "deny")], true],
])("what is denied stays denied beside an entry for %s", (_, own, denied, isKept) => {
  const kept = denyAlso(sandbox(...own), sandbox(at("/", "write"), ...denied));
  expect(kept).toEqual(isKept ? sandbox(...own, ...denied) : undefined);
});

it("of nothing denied the sandbox stays as it is, and without one there is the other's", () => {
  const own = sandbox(at("/", "read"));
  expect(denyAlso(own, null)).toBe(own);
  expect(denyAlso(own, sandbox(at("/", "write")))).toBe(own);
  expect(denyAlso(null, null)).toBeNull();
  const denying = sandbox(at("/", "write"), at("/secret", "deny"));
  expect(denyAlso(null, denying)).toBe(denying);
  const open: Sandbox = { ...own, permissions: { type: "disabled" } };
  expect(denyAlso(open, denying)).toBe(denying);
  const external: Sandbox = { ...own, permissions: { type: "external", network: "enabled" } };
  expect(denyAlso(external, denying)).toBeUndefined();
  const everything: Sandbox = {
    ...own,
    permissions: { type: "managed", file_system: { type: "unrestricted" }, network: "enabled" },
  };
  expect(denyAlso(everything, denying)).toMatchObject({ permissions: { network: "enabled" } });
});
