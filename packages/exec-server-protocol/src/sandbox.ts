import * as z from "zod/mini";
import { lazily } from "./decode.js";
import { optional, pathMember } from "./members.js";

const specialPathSchema = lazily(() =>
  z.object({
    kind: z.enum(["root", "minimal", "current_working_directory", "project_roots", "tmpdir", "slash_tmp", "unknown"]),
    subpath: optional(z.string()),
  }),
);

const sandboxPathSchema = lazily(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("path"), path: pathMember }),
    z.object({ type: z.literal("glob_pattern"), pattern: z.string() }),
    z.object({ type: z.literal("special"), value: specialPathSchema() }),
  ]),
);

const fileSystemPermissionsSchema = lazily(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("unrestricted") }),
    z.object({
      type: z.literal("restricted"),
      entries: z.array(z.object({ path: sandboxPathSchema(), access: z.enum(["read", "write", "deny", "none"]) })),
      glob_scan_max_depth: optional(z.int().check(z.nonnegative())),
    }),
  ]),
);

const networkSchema = lazily(() => z.enum(["restricted", "enabled"]));

/** What a process or a file operation may touch. Members within are in snake case. */
const sandboxPermissionsSchema = lazily(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("disabled") }),
    z.object({ type: z.literal("external"), network: networkSchema() }),
    z.object({ type: z.literal("managed"), file_system: fileSystemPermissionsSchema(), network: networkSchema() }),
  ]),
);

/** The sandbox chosen by the client for one request. */
const sandboxSchema = lazily(() =>
  z.object({
    permissions: sandboxPermissionsSchema(),
    windowsSandboxLevel: z.enum(["disabled", "restricted-token", "elevated", "mxc"]),
    cwd: optional(pathMember),
    policyContext: optional(z.object({ cwd: pathMember, workspaceRoots: optional(z.array(pathMember)) })),
    workspaceRoots: optional(z.array(pathMember)),
    userHomeDir: optional(pathMember),
    temporaryDirectories: optional(z.array(pathMember)),
    useLegacyLandlock: optional(z.boolean()),
  }),
);
/** The sandbox chosen by the client for one request. */
export type Sandbox = z.output<ReturnType<typeof sandboxSchema>>;

/** A `sandbox` member of a request; null and absent ask for none. */
export const sandboxMember = lazily(() => optional(sandboxSchema()));
