import type { ContextSection } from "./context-sections.js";

/** Environments and date of a turn. */
export interface EnvironmentContext {
  /** The default first; may be empty. */
  readonly environments: readonly ContextEnvironment[];
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Such as `Europe/Berlin`. */
  readonly timezone: string;
}

/** An environment as described to the model. */
export interface ContextEnvironment {
  readonly id: string;
  readonly cwd?: string;
  /** Name of its shell, such as `bash`. */
  readonly shell?: string;
  /** Workspace directories. */
  readonly roots?: readonly string[];
  /** Sandbox mode. */
  readonly profile?: string;
  /** When it is not ready; for a failure set `error` instead. */
  readonly status?: string;
  /** Why it cannot be used. */
  readonly error?: string;
}

/** Permissions of commands. */
export interface PermissionsDescription {
  readonly sandboxMode: string;
  readonly networkAccess: boolean;
  /** Patterns of the hosts that commands reach; undefined where `networkAccess` says it. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly approvalPolicy: string;
  readonly writableRoots: readonly string[];
}

/** Renders `<environment_context>`; names and paths are escaped. Pure. */
export function renderEnvironmentContext({ environments, date, timezone }: EnvironmentContext): ContextSection {
  const [first] = environments;
  const where =
    first === undefined
      ? []
      : environments.length === 1 && first.error === undefined
        ? describeEnvironment(first)
        : ["<environments>", ...environments.flatMap(describeOne).map(indent), "</environments>"];
  const lines = [...where, tag("current_date", date), tag("timezone", timezone)];
  const text = [OPENING, ...lines.map(indent), "</environment_context>"].join("\n");
  return { role: "user", opening: OPENING, text };
}

const OPENING = "<environment_context>";

function describeOne(environment: ContextEnvironment, index: number): string[] {
  const { id, status, error } = environment;
  const inside =
    error === undefined
      ? [...describeEnvironment(environment), ...(status === undefined ? [] : [tag("status", status)])]
      : [tag("status", "failed"), tag("error", error)];
  const primary = index === 0 ? ' primary="true"' : "";
  return [`<environment id="${escapeText(id)}"${primary}>`, ...inside.map(indent), "</environment>"];
}

function describeEnvironment({ cwd, shell, roots, profile }: ContextEnvironment): string[] {
  const inside = [
    ...(roots ?? []).map((root) => tag("root", root)),
    ...(profile === undefined ? [] : [tag("permission_profile", profile)]),
  ];
  return [
    ...(cwd === undefined ? [] : [tag("cwd", cwd)]),
    ...(shell === undefined ? [] : [tag("shell", shell)]),
    ...(inside.length === 0 ? [] : ["<filesystem>", ...inside.map(indent), "</filesystem>"]),
  ];
}

/** Renders `<permissions>`: sandbox and approval policy. Pure. */
export function describePermissions(permissions: PermissionsDescription): ContextSection {
  const { sandboxMode, networkAccess, allowedHosts, approvalPolicy, writableRoots } = permissions;
  const lines = [
    tag("sandbox_mode", sandboxMode),
    tag("network_access", allowedHosts !== undefined ? "limited" : networkAccess ? "enabled" : "restricted"),
    ...(allowedHosts ?? []).slice(0, MAX_SHOWN_HOSTS).map((host) => tag("allowed_host", host)),
    tag("approval_policy", approvalPolicy),
    ...writableRoots.map((root) => tag("writable_root", root)),
    SANDBOX_DESCRIPTIONS[sandboxMode] ?? "",
    allowedHosts === undefined ? "" : LIMITED_NETWORK,
    APPROVAL_DESCRIPTIONS[approvalPolicy] ?? "",
  ].filter((line) => line !== "");
  const opening = "<permissions>";
  return { role: "developer", opening, text: [opening, ...lines, "</permissions>"].join("\n") };
}

const SANDBOX_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "read-only": "Commands can read files and write none.",
  "workspace-write": "Commands can read files, and write in the working directory and the writable roots.",
  "danger-full-access": "Commands are not held by a sandbox.",
};

const MAX_SHOWN_HOSTS = 64;
const LIMITED_NETWORK =
  "Commands reach the allowed hosts, with or without a proxy. Another host is asked about where somebody can be asked, else denied; the result of a command says which were.";

const APPROVAL_DESCRIPTIONS: Readonly<Record<string, string>> = {
  never: "Nobody can be asked for approval: what is not allowed is refused.",
  "on-request":
    "Ask with sandbox_permissions and a justification for a command that needs more than the sandbox allows.",
  untrusted: "Commands that are not known to be safe wait for a person's approval.",
  "on-failure": "A command that failed because of the sandbox may run again without it when a person approves.",
};

const indent = (line: string): string => `  ${line}`;
const tag = (name: string, text: string): string => `<${name}>${escapeText(text)}</${name}>`;

/** Escapes markup and line breaks. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"\u0000-\u001f\u007f\u2028\u2029]/g, (char) => ENTITIES[char] ?? `&#${char.charCodeAt(0)};`);

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
