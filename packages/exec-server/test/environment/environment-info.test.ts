import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { detectShell } from "@codex/exec-backend";
import { CAPABILITY_NAMES } from "@codex/exec-server-protocol";
import { expect, it } from "vitest";
import { createEnvironmentInfo } from "../../src/environment/environment-info.js";

const create = (options = {}) => createEnvironmentInfo({ executorVersion: "1.2.3", cwd: "/a b", env: {}, ...options });

it("pins the names of capabilities", () => {
  expect(CAPABILITY_NAMES.join(" ")).toBe(
    "networkProxyLaunch networkProxyReviewDomains credentialMasking credentialMaskingCustomProviders " +
      "capabilityDiscoverySandbox fsWatchMissing capabilityDiscoveryV2 environmentConfigRead httpHeaderEnvVars " +
      "sandboxedFileStreaming fileWriteStreaming shellSnapshotV2 windowsMxc linuxRootWritePreservesDevices " +
      "linuxApprovedRootWritePreservesRestrictions",
  );
});

it("describes this host", async () => {
  const info = await create();
  expect(info).toMatchObject({
    executorVersion: "1.2.3",
    providerId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    cwd: "file:///a%20b",
    userHomeDir: `file://${homedir()}`,
    platformOs: process.platform === "darwin" ? "macos" : process.platform,
    prependPathDirs: [],
    temporaryDirectories: [],
    tempDir: "file:///tmp",
  });
  accessSync(info.shell.path, constants.X_OK);
  expect(info.shell.path.endsWith(`/${info.shell.name}`)).toBe(true);
  expect((await create({ cwd: "/" })).providerId).toBe(info.providerId);
});

it("claims what it can do and nothing else", async () => {
  const { capabilities } = await create({ capabilities: ["environmentConfigRead"] });
  expect(Object.keys(capabilities)).toEqual([...CAPABILITY_NAMES]);
  expect(Object.entries(capabilities).flatMap(([name, can]) => (can ? [name] : []))).toEqual([
    "fsWatchMissing",
    "environmentConfigRead",
    "httpHeaderEnvVars",
    "fileWriteStreaming",
  ]);
});

it("takes home and temporary directory from the environment", async () => {
  expect(await create({ env: { HOME: "/ü", TMPDIR: "/t/" } })).toMatchObject({
    userHomeDir: "file:///%C3%BC",
    temporaryDirectories: ["file:///t"],
    tempDir: "file:///t",
  });
  expect(await create({ env: { TMPDIR: "rel" } })).toMatchObject({ tempDir: "file:///a%20b/rel" });
  expect(await create({ env: { HOME: "", TMPDIR: "" } })).toMatchObject({
    tempDir: "file:///tmp",
    temporaryDirectories: [],
  });
});

it("names the shell that `PATH` has for a user whose own is not known", async () => {
  const directory = mkdtempSync(join(tmpdir(), "shells-"));
  try {
    writeFileSync(join(directory, "bash"), "", { mode: 0o755 });
    const env = { PATH: directory };
    expect((await create({ env })).shell).toEqual(detectShell(userInfo().shell ?? undefined, directory));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
