import { expect, it } from "vitest";
import { getHostInfo } from "../../src/host/host-info.js";

it("reports this host and its shell", () => {
  const host = getHostInfo(process.env);
  expect(host).toMatchObject({ os: process.platform, arch: process.arch, cwd: process.cwd() });
  expect(host.shell.path.endsWith(`/${host.shell.name}`)).toBe(true);
  expect(["bash", "zsh", "sh", "pwsh"]).toContain(host.shell.name);
});
