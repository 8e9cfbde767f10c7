import { expect, it } from "vitest";
import { refuseSandbox } from "../src/refuse-sandbox.js";
import type { Sandbox } from "../src/sandbox.js";

const sandbox = (permissions: Sandbox["permissions"]): Sandbox => ({
  permissions,
  windowsSandboxLevel: "disabled",
  cwd: undefined,
  policyContext: undefined,
  workspaceRoots: undefined,
  userHomeDir: undefined,
  temporaryDirectories: undefined,
  useLegacyLandlock: undefined,
});

it("accepts a request for no sandbox", () => {
  expect(() => refuseSandbox("fs/readFile", undefined)).not.toThrow();
  expect(() => refuseSandbox("fs/readFile", sandbox({ type: "disabled" }))).not.toThrow();
});

it.each<Sandbox["permissions"]>([
  { type: "external", network: "enabled" },
  { type: "managed", file_system: { type: "unrestricted" }, network: "enabled" },
])("refuses permissions $type", (permissions) => {
  const refusal = expect.objectContaining({
    code: -32603,
    message: expect.stringContaining(`\`${permissions.type}\``),
  });
  expect(() => refuseSandbox("fs/readFile", sandbox(permissions))).toThrow(refusal);
});
