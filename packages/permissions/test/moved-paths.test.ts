import { expect, it } from "vitest";
import { findMovedPaths } from "../src/index.js";

it("leaves out what the user may not look up", () => {
  const env = { KUBECONFIG: "/closed/k1:/open/k2", TF_CLI_CONFIG_FILE: "/closed/terraformrc" };
  expect(findMovedPaths(env, (path) => !path.startsWith("/closed/"))).toEqual({ "~/.kube/config": ["/open/k2"] });
});
