import { RpcError } from "@codex/channel";
import type { Sandbox as NativeSandbox } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { toFileUrl } from "./file-url.js";
import { displayPath, type HostPath } from "./host-path.js";
import { ERROR_CODES } from "./methods.js";
import type { Sandbox } from "./sandbox.js";

/** The sandbox of a request with native paths. @throws RpcError -32602 for a path that is not UTF-8 */
export function toNativeSandbox(sandbox: Sandbox): NativeSandbox {
  const { permissions, policyContext, userHomeDir } = sandbox;
  const cwd = sandbox.cwd ?? policyContext?.cwd;
  const workspaceRoots = sandbox.workspaceRoots ?? policyContext?.workspaceRoots;
  return {
    permissions: toNativePermissions(permissions),
    ...(cwd === undefined ? {} : { cwd: toText(cwd, "cwd") }),
    ...(workspaceRoots === undefined ? {} : { workspaceRoots: toTexts(workspaceRoots, "workspaceRoots") }),
    ...(userHomeDir === undefined ? {} : { userHomeDir: toText(userHomeDir, "userHomeDir") }),
    ...(sandbox.temporaryDirectories === undefined
      ? {}
      : { temporaryDirectories: toTexts(sandbox.temporaryDirectories, "temporaryDirectories") }),
  };
}

function toNativePermissions(permissions: Sandbox["permissions"]): NativeSandbox["permissions"] {
  if (permissions.type !== "managed") return permissions;
  const { file_system: files } = permissions;
  if (files.type === "unrestricted") return { ...permissions, file_system: files };
  const entries = files.entries.map(({ path, access }) => ({ path: toNativePath(path), access }));
  const { glob_scan_max_depth: depth } = files;
  return {
    ...permissions,
    file_system: { type: "restricted", entries, ...defined({ glob_scan_max_depth: depth }) },
  };
}

type Files = Extract<Extract<Sandbox["permissions"], { type: "managed" }>["file_system"], { type: "restricted" }>;
type NativeFiles = Extract<
  Extract<NativeSandbox["permissions"], { type: "managed" }>["file_system"],
  { type: "restricted" }
>;

function toNativePath(path: Files["entries"][number]["path"]): NativeFiles["entries"][number]["path"] {
  if (path.type === "path") return { type: "path", path: toText(path.path, "permissions") };
  if (path.type === "glob_pattern") return path;
  const { kind, subpath } = path.value;
  return { type: "special", value: { kind, ...defined({ subpath }) } };
}

const toTexts = (paths: readonly HostPath[], member: string): string[] => paths.map((path) => toText(path, member));

/** A path that is not UTF-8 cannot be passed on as text: the sandbox would restrict a different path. */
function toText(path: HostPath, member: string): string {
  if (typeof path === "string") return path;
  const text = `sandbox.${member} has a path that is not UTF-8: \`${displayPath(path)}\``;
  throw new RpcError(ERROR_CODES.invalidParams, text);
}

/** The `sandbox` member of a request, with file URLs. */
export function toWireSandbox({ permissions, ...context }: NativeSandbox): unknown {
  const { cwd, workspaceRoots, userHomeDir, temporaryDirectories } = context;
  return {
    permissions: toWirePermissions(permissions),
    windowsSandboxLevel: "disabled",
    ...(cwd === undefined ? {} : { cwd: toFileUrl(cwd) }),
    ...(workspaceRoots === undefined ? {} : { workspaceRoots: workspaceRoots.map(toFileUrl) }),
    ...(userHomeDir === undefined ? {} : { userHomeDir: toFileUrl(userHomeDir) }),
    ...(temporaryDirectories === undefined ? {} : { temporaryDirectories: temporaryDirectories.map(toFileUrl) }),
  };
}

function toWirePermissions(permissions: NativeSandbox["permissions"]): unknown {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return permissions;
  const entries = permissions.file_system.entries.map(({ path, access }) => ({
    path: path.type === "path" ? { ...path, path: toFileUrl(path.path) } : path,
    access,
  }));
  return { ...permissions, file_system: { ...permissions.file_system, entries } };
}
