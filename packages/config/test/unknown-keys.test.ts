import { describe, expect, it } from "vitest";
import { describeUnknownKeys } from "../src/unknown-keys.js";

const describeKey = (key: string) =>
  describeUnknownKeys([
    { key, origin: { kind: "file", layer: "user", file: "/home/me/config.toml", line: 3, column: 1 } },
  ]);

describe("unknown keys", () => {
  it.each([
    ["approval_polcy", /config\.toml.*3.*unknown key `approval_polcy`; did you mean `approval_policy`\?/],
    ["model_providr", /did you mean `model_provider`\?/],
    ["sandbox_workspace_write.network_acess", /did you mean `sandbox_workspace_write.network_access`\?/],
    ["audit.enable", /did you mean `audit.enabled`\?/],
    ["nonsense", /unknown key `nonsense`$/],
    ["nonsense.more", /unknown key `nonsense.more`$/],
  ])("cause a warning: %s", (key, message) => {
    expect(describeKey(key)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    "model",
    "mcp_servers.x.command",
    "tui.theme",
    "features.web_search",
    "shell_environment_policy.experimental_use_profile",
  ])("are not those of Codex: %s", (key) => {
    expect(describeKey(key)).toEqual([]);
  });
});
