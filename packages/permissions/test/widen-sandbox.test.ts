import type { Sandbox } from "@codex/executor-protocol";
import { expect, it } from "vitest";
import { widenSandbox } from "../src/index.js";

const denied = { path: { type: "path" as const, path: "/secret" }, access: "deny" as const };
const SANDBOX: Sandbox = {
  permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries: [denied] } },
  cwd: "/ws",
};

it("adds the network and nothing else", () => {
  const permissions = { ...SANDBOX.permissions, network: "enabled" };
  expect(widenSandbox(SANDBOX, "network")).toEqual({ ...SANDBOX, permissions });
});

it("adds directories, and keeps what is denied", () => {
  const added = { path: { type: "path", path: "/srv" }, access: "write" };
  expect(widenSandbox(SANDBOX, { write: ["/srv"] })).toEqual({
    ...SANDBOX,
    permissions: {
      type: "managed",
      network: "restricted",
      file_system: { type: "restricted", entries: [denied, added] },
    },
  });
});

it("is none without restriction", () => {
  expect(widenSandbox(SANDBOX, "unrestricted")).toBeNull();
});

it("widens nothing that is not restricted here", () => {
  const external: Sandbox = { permissions: { type: "external", network: "restricted" } };
  expect(widenSandbox(external, { write: ["/srv"] })).toBe(external);
  const disabled: Sandbox = { permissions: { type: "disabled" } };
  expect(widenSandbox(disabled, "network")).toBe(disabled);
});
