import { expect, it } from "vitest";
import { getHostInfo } from "../../src/host/host-info.js";

it("reports this host and its shell", () => {
  const host = getHostInfo(process.env);
  expect(host).toMatchObject({ os: process.platform, arch: process.arch, cwd: process.cwd() });
  expect(host.shell.path.endsWith(`/${host.shell.name}`)).toBe(true);
  expect(["bash", "zsh", "sh", "pwsh"]).toContain(host.shell.name);
});

it("reports what its environment puts elsewhere than in the home directory", () => {
  const env = {
    XDG_CONFIG_HOME: "/x//c/",
    KUBECONFIG: "/x/k1:rel:/x/k2",
    NETRC: "/dev/null",
    GNUPGHOME: "",
    NPM_TOKEN: "/t",
  };
  expect(getHostInfo(env).movedPaths).toEqual({ "~/.config": ["/x/c"], "~/.kube/config": ["/x/k1", "/x/k2"] });
  expect(getHostInfo({ PATH: "/bin" })).not.toHaveProperty("movedPaths");
});
