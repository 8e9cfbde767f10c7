import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finish, useCommand } from "./support.js";

const probe = createLocalBackend();
const support = (await probe.getSandboxSupport?.()) ?? { kind: "none" };
await probe.close();

/** As they lie in a home directory. */
const SECRETS = [
  ".ssh/id_rsa",
  ".ssh/deploy",
  ".ssh/authorized_keys",
  ".ssh/keys/work.pem",
  ".gnupg/private-keys-v1.d/x.key",
  ".npmrc",
  ".yarnrc.yml",
  ".config/pnpm/rc",
  ".pypirc",
  ".config/pip/pip.conf",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".cargo/credentials.bak",
  ".gem/credentials",
  ".local/share/gem/credentials",
  ".bundle/config",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".gradle/gradle.properties",
  ".composer/auth.json",
  ".nuget/NuGet/NuGet.Config",
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  ".netrc",
  ".authinfo",
  ".git-credentials",
  ".config/git/credentials",
  ".config/gh/hosts.yml",
  ".config/glab-cli/config.yml",
  ".config/hub",
  ".config/github-copilot/apps.json",
  ".docker/config.json",
  ".docker/key.pem",
  ".config/containers/auth.json",
  ".config/helm/registry/config.json",
  ".kube/config",
  ".kube/prod.yaml",
  ".aws/credentials",
  ".aws/sso/cache/t.json",
  ".azure/msal_token_cache.json",
  ".config/gcloud/application_default_credentials.json",
  ".terraform.d/credentials.tfrc.json",
  ".terraformrc",
  ".pulumi/credentials.json",
  ".vault-token",
  ".s3cfg",
  ".config/rclone/rclone.conf",
  ".claude/.credentials.json",
  ".claude.json",
  ".codex/auth.json",
  ".gemini/oauth_creds.json",
  ".cache/huggingface/token",
  ".cache/huggingface/stored_tokens",
  ".huggingface/token",
  ".kaggle/kaggle.json",
  ".databrickscfg",
  ".config/google-chrome/Default/Cookies",
  ".mozilla/firefox/x.default/logins.json",
  ".password-store/mail.gpg",
];
const OPEN = [
  ".ssh/known_hosts",
  ".ssh/config",
  ".gitconfig",
  ".aws/config",
  ".docker/daemon.json",
  ".cargo/config.toml",
];

let home: string;
beforeAll(() => {
  home = realpathSync(mkdtempSync("/var/tmp/codex-denied-"));
  for (const file of [...SECRETS, ...OPEN]) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), `content of ${file}\n`);
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe.skipIf(support.kind === "none")(`files of a home directory (${support.problem ?? support.kind})`, () => {
  const command = useCommand();
  const run = async (script: string, ...flags: string[]) => {
    const args = ["sandbox", ...flags, "-C", home, "--", "sh", "-c", script];
    const child = command.startIn(home, args, { HOME: home, CODEX_HOME: join(home, ".codex") });
    child.stdin.end();
    return (await finish(child)).stdout.toString();
  };
  const cat = (files: readonly string[]) => `for f in ${files.join(" ")}; do cat "$HOME/$f"; done; echo end`;

  it.each([["read-only"], ["workspace-write"]])("that hold credentials are not read in mode %s", async (mode) => {
    expect(await run(cat(SECRETS), "-s", mode)).toBe("end\n");
  });

  it("that hold none are", async () => {
    expect(await run(cat(OPEN))).toBe(`${OPEN.map((file) => `content of ${file}\n`).join("")}end\n`);
  });

  it("are not read either where they come into being while a command runs", async () => {
    const child = command.startIn(
      home,
      ["sandbox", "-C", home, "--", "sh", "-c", 'echo on; read x; cat "$HOME/.ssh/late"; echo end'],
      {
        HOME: home,
        CODEX_HOME: join(home, ".codex"),
      },
    );
    child.stdout.once("data", () => {
      writeFileSync(join(home, ".ssh/late"), "content of late\n");
      child.stdin.end("go\n");
    });
    expect((await finish(child)).stdout.toString()).toBe("on\nend\n");
  });

  it("are read where the configuration says so", async () => {
    const flags = ["-c", 'sandbox_workspace_write.deny_read=["~/.ssh", "!~/.ssh/deploy"]'];
    expect(await run(cat([".ssh/id_rsa", ".ssh/deploy", ".npmrc"]), ...flags)).toBe(
      "content of .ssh/deploy\ncontent of .npmrc\nend\n",
    );
  });
});
