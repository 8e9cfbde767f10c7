import { posix } from "node:path";

/** Places below the home directory, as `~/.config`, and the absolute paths that an environment replaces each with. */
export type MovedPaths = Record<string, string[]>;

/** Most paths that one variable may list; more are left out. */
const MAX_LISTED_PATHS = 64;

/** Longest value of a variable that is read, in characters; Linux has no longer paths. */
const MAX_VALUE_LENGTH = MAX_LISTED_PATHS * 4_096;

/** Variables that replace the place of a file or directory, and that place without them. */
const PLACES: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: "~/.config",
  XDG_DATA_HOME: "~/.local/share",
  XDG_CACHE_HOME: "~/.cache",
  XDG_STATE_HOME: "~/.local/state",
  CODEX_HOME: "~/.codex",
  CLAUDE_CONFIG_DIR: "~/.claude",
  GNUPGHOME: "~/.gnupg",
  PASSWORD_STORE_DIR: "~/.password-store",
  SOPS_AGE_KEY_FILE: "~/.config/sops/age/keys.txt",
  XAUTHORITY: "~/.Xauthority",
  AWS_SHARED_CREDENTIALS_FILE: "~/.aws/credentials",
  AWS_CONFIG_FILE: "~/.aws/config",
  CLOUDSDK_CONFIG: "~/.config/gcloud",
  GOOGLE_APPLICATION_CREDENTIALS: "~/.config/gcloud/application_default_credentials.json",
  BOTO_CONFIG: "~/.boto",
  AZURE_CONFIG_DIR: "~/.azure",
  OCI_CLI_CONFIG_FILE: "~/.oci/config",
  KUBECONFIG: "~/.kube/config",
  MINIKUBE_HOME: "~/.minikube",
  DOCKER_CONFIG: "~/.docker",
  REGISTRY_AUTH_FILE: "~/.config/containers/auth.json",
  HELM_CONFIG_HOME: "~/.config/helm",
  HELM_REGISTRY_CONFIG: "~/.config/helm/registry/config.json",
  TF_CLI_CONFIG_FILE: "~/.terraformrc",
  TERRAFORM_CONFIG: "~/.terraformrc",
  PULUMI_HOME: "~/.pulumi",
  PULUMI_CREDENTIALS_PATH: "~/.pulumi",
  VAULT_TOKEN_PATH: "~/.vault-token",
  RCLONE_CONFIG: "~/.config/rclone/rclone.conf",
  DATABRICKS_CONFIG_FILE: "~/.databrickscfg",
  NETRC: "~/.netrc",
  HISTFILE: "~/.bash_history",
  GH_CONFIG_DIR: "~/.config/gh",
  GLAB_CONFIG_DIR: "~/.config/glab-cli",
  GIT_CONFIG_GLOBAL: "~/.gitconfig",
  NPM_CONFIG_USERCONFIG: "~/.npmrc",
  npm_config_userconfig: "~/.npmrc",
  PIP_CONFIG_FILE: "~/.config/pip/pip.conf",
  POETRY_CONFIG_DIR: "~/.config/pypoetry",
  CARGO_HOME: "~/.cargo",
  BUNDLE_USER_HOME: "~/.bundle",
  BUNDLE_USER_CONFIG: "~/.bundle/config",
  GRADLE_USER_HOME: "~/.gradle",
  COMPOSER_HOME: "~/.config/composer",
  PGPASSFILE: "~/.pgpass",
  PGSERVICEFILE: "~/.pg_service.conf",
  MYSQL_TEST_LOGIN_FILE: "~/.mylogin.cnf",
  DBT_PROFILES_DIR: "~/.dbt",
  HF_HOME: "~/.cache/huggingface",
  HF_TOKEN_PATH: "~/.cache/huggingface/token",
  HF_STORED_TOKENS_PATH: "~/.cache/huggingface/stored_tokens",
  KAGGLE_CONFIG_DIR: "~/.kaggle",
};

/**
 * The places of the home directory that an environment replaces; undefined for none. Relative paths depend on the program that
 * reads them, and devices (`/dev/null`) hold nothing: both are left out.
 *
 * @param isReachable false for a path that the user may not look up: no command of the user can read it, and no link in it be resolved
 */
export function findMovedPaths(
  env: Readonly<Record<string, string | undefined>>,
  isReachable: (path: string) => boolean = () => true,
): MovedPaths | undefined {
  const moved = new Map<string, Set<string>>();
  for (const [name, place] of Object.entries(PLACES)) {
    const value = env[name];
    if (value === undefined || value.length > MAX_VALUE_LENGTH) continue;
    // The only one of them that may be a list.
    const listed = name === "KUBECONFIG" ? value.split(posix.delimiter).slice(0, MAX_LISTED_PATHS) : [value];
    for (const path of listed.filter((one) => one.startsWith("/")).map(normalize)) {
      if (path === "/" || /^\/(dev|proc|sys)(\/|$)/.test(path) || !isReachable(path)) continue;
      moved.set(place, (moved.get(place) ?? new Set()).add(path));
    }
  }
  if (moved.size === 0) return undefined;
  return Object.fromEntries([...moved].map(([place, paths]) => [place, [...paths]]));
}

const normalize = (path: string): string => posix.normalize(path).replace(/(?<=[^/])\/+$/, "");
