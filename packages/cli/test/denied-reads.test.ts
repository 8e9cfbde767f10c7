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
  ".codex/history.jsonl",
  ".codex/sessions/2026/thread.jsonl",
  ".gemini/oauth_creds.json",
  ".cache/huggingface/token",
  ".cache/huggingface/stored_tokens",
  ".huggingface/token",
  ".kaggle/kaggle.json",
  ".databrickscfg",
  ".config/google-chrome/Default/Cookies",
  ".mozilla/firefox/x.default/logins.json",
  ".password-store/mail.gpg",
  ".config/age/keys.txt",
  ".lpass/key",
  ".subversion/auth/svn.simple/x",
  ".vnc/passwd",
  ".config/borg/keys/x",
  ".config/solana/id.json",
  ".bitcoin/wallet.dat",
  ".chef/x.pem",
  ".circleci/cli.yml",
  ".ngrok2/ngrok.yml",
  ".jfrog/jfrog-cli.conf.v6",
  ".modal.toml",
  ".age/key.txt",
  ".boundary/token",
  ".config/akeyless/x",
  ".akeyless/profiles/x",
  ".config/consul/token",
  ".consul-token",
  ".nomad-token",
  ".config/hcp/credentials.json",
  ".config/snowflake/config.toml",
  ".config/uv/credentials.toml",
  ".config/restic/password",
  ".databricks/token-cache.json",
  ".duckdb/stored_secrets/s",
  ".local/share/pki/nssdb/key4.db",
  ".local/share/remmina/x.remmina",
  ".minio/config",
  ".okta_aws_login_config",
  ".ollama/id_ed25519",
  ".rhosts",
  ".tarsnap.key",
  ".vault_pass",
  ".ansible/vault_pass",
  ".config/conda/tokens",
  ".bash_history",
  ".zsh_history",
  ".zhistory",
  ".sh_history",
  ".history",
  ".local/share/fish/fish_history",
  ".local/share/atuin/history.db",
  ".config/nushell/history.txt",
  ".config/nushell/history.sqlite3",
  ".local/share/xonsh/history",
  ".python_history",
  ".node_repl_history",
  ".ipython/profile_default/history.sqlite",
  ".irb_history",
  ".pry_history",
  ".julia/logs/repl_history.jl",
  ".Rhistory",
  ".psql_history",
  ".mysql_history",
  ".mariadb_history",
  ".sqlite_history",
  ".rediscli_history",
  ".mongodb/mongosh/mongosh_repl_history",
  ".dbshell",
  ".Xauthority",
  ".local/share/atuin/key",
  ".config/configstore/firebase-tools.json",
  ".config/turborepo/config.json",
  ".railway/config.json",
  ".supabase/access-token",
  ".sentryclirc",
  ".mc/config.json",
  ".local/share/pnpm/auth.ini",
  ".qwen/oauth_creds.json",
  ".config/cursor/auth.json",
  ".config/goose/secrets.yaml",
  ".aider.conf.yml",
  ".continue/config.json",
  ".local/share/jupyter/runtime/kernel.json",
  ".config/1Password/1password.sqlite",
  ".config/Bitwarden/data.json",
  ".local/share/rbw/x.json",
  ".putty/sessions/x",
  ".google_authenticator",
  ".step/secrets/root_ca_key",
  ".local/share/mkcert/rootCA-key.pem",
  ".acme.sh/account.conf",
  ".pki/nssdb/key4.db",
  ".minisign/minisign.key",
  ".lnd/x.macaroon",
  ".foundry/keystores/x",
  ".aptos/config.yaml",
  ".bluemix/config.json",
  ".aliyun/config.json",
  ".ovh.conf",
  ".civo.json",
  ".config/openstack/clouds.yaml",
  ".cf/config.json",
  ".deno/credentials.json",
  ".rancher/cli2.json",
  ".apptainer/docker-config.json",
  ".tsh/keys/x",
  ".saml2aws",
  ".awsvault/keys/x",
  ".doppler/.doppler.yaml",
  ".vault_pass.txt",
  ".config/neonctl/credentials.json",
  ".config/turso/settings.json",
  ".cassandra/credentials",
  ".usqlpass",
  ".ansible/galaxy_token",
  ".slack/credentials.json",
  ".transifexrc",
  ".expo/state.json",
  ".config/kopia/repository.config.kopia-password",
  ".config/syncthing/key.pem",
  ".httpie/sessions/h/a.json",
  ".copilot/config.json",
  ".gitcookies",
  ".gcm/store/x",
  ".arcrc",
  ".gist",
  ".config/hut/config",
  ".pub-cache/credentials.json",
  ".conan2/credentials.json",
  ".stack/upload/credentials.json",
  ".pause",
  ".continuum/anaconda-client/x.token",
  ".config/cachix/cachix.dhall",
  ".config/aerc/accounts.conf",
  ".purple/accounts.xml",
  ".irssi/config",
  ".config/Signal/config.json",
  ".davfs2/secrets",
  ".passwd-s3fs",
  ".config/b2/account_info",
  ".config/openai/key",
  ".config/io.datasette.llm/keys.json",
  ".config/fabric/.env",
  ".local/share/amp/secrets.json",
  ".factory/auth.json",
  ".runpod/config.toml",
  ".vast_api_key",
  ".lambda_cloud/lambda_keys",
  ".ngc/config",
  "clearml.conf",
  ".synapseConfig",
  ".config/vivaldi/Default/Cookies",
  ".librewolf/x/logins.json",
  "snap/firefox/common/x",
];
/** Variables that put credentials elsewhere, and the files that are then below their value, or their value itself. */
const MOVED: Readonly<Record<string, readonly string[]>> = {
  XDG_CONFIG_HOME: ["gh/hosts.yml", "gcloud/credentials.db", "git/credentials", "pip/pip.conf"],
  XDG_DATA_HOME: ["keyrings/login.keyring", "pnpm/auth.ini"],
  XDG_CACHE_HOME: ["huggingface/token"],
  GH_CONFIG_DIR: ["hosts.yml"],
  DOCKER_CONFIG: ["config.json", "key.pem"],
  GNUPGHOME: ["private-keys-v1.d/x.key"],
  CARGO_HOME: ["credentials.toml", "credentials.old"],
  CLOUDSDK_CONFIG: ["credentials.db"],
  AZURE_CONFIG_DIR: ["msal_token_cache.json"],
  HF_HOME: ["token"],
  KUBECONFIG: [""],
  AWS_SHARED_CREDENTIALS_FILE: [""],
  NETRC: [""],
  HISTFILE: [""],
  NPM_CONFIG_USERCONFIG: [""],
  GOOGLE_APPLICATION_CREDENTIALS: [""],
  PGPASSFILE: [""],
  PIP_CONFIG_FILE: [""],
  TF_CLI_CONFIG_FILE: [""],
  VAULT_TOKEN_PATH: [""],
  HF_TOKEN_PATH: [""],
};
const OPEN = [
  ".ssh/known_hosts",
  ".ssh/config",
  ".gitconfig",
  ".aws/config",
  ".local/share/mkcert/rootCA.pem",
  ".docker/daemon.json",
  ".codex/AGENTS.md",
  ".codex/skills/x/SKILL.md",
  ".codex/prompts/p.md",
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
  const runWith = async (env: Record<string, string>, script: string, ...flags: string[]) => {
    const args = ["sandbox", ...flags, "-C", home, "--", "sh", "-c", script];
    const child = command.startIn(home, args, { HOME: home, CODEX_HOME: join(home, ".codex"), ...env });
    child.stdin.end();
    return (await finish(child)).stdout.toString();
  };
  const run = (script: string, ...flags: string[]) => runWith({}, script, ...flags);
  const cat = (files: readonly string[]) => `for f in ${files.join(" ")}; do cat "$HOME/$f"; done; echo end`;

  it.each([["read-only"], ["workspace-write"]])("that hold credentials are not read in mode %s", async (mode) => {
    expect(await run(cat(SECRETS), "-s", mode)).toBe("end\n");
  });

  it("are not read either where a variable of the environment puts them elsewhere", async () => {
    const env = Object.fromEntries(Object.keys(MOVED).map((name) => [name, join(home, "moved", name)]));
    const files = Object.entries(MOVED).flatMap(([name, below]) => below.map((one) => join("moved", name, one)));
    for (const file of files) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), `content of ${file}\n`);
    }
    writeFileSync(join(home, "moved/CARGO_HOME/config.toml"), "open\n");
    expect(await runWith(env, cat([...files, "moved/CARGO_HOME/config.toml"]))).toBe("open\nend\n");
  });

  it("are not read either where CODEX_HOME is a relative path", async () => {
    mkdirSync(join(home, "own"));
    writeFileSync(join(home, "own/auth.json"), "content\n");
    expect(await runWith({ CODEX_HOME: "own" }, "cat own/auth.json; echo end")).toBe("end\n");
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
