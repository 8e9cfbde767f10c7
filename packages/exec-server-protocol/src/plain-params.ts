import { parsePlainFileUrl } from "./file-url.js";
import type { HostPath } from "./host-path.js";

/**
 * A fast path for the params of requests with one path: validation by a schema takes longer than most of these requests.
 * Undefined for anything unusual, which the schema then decodes or rejects.
 * @param flags the boolean members with their defaults
 */
export function decodePlainParams<Flag extends string>(
  params: unknown,
  flags: Readonly<Record<Flag, boolean>>,
): ({ path: HostPath; sandbox: undefined } & Record<Flag, boolean>) | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const members = params as Readonly<Record<string, unknown>>;
  const values: Record<string, boolean> = { ...flags };
  let path: HostPath | undefined;
  for (const name of Object.keys(members)) {
    const value = members[name];
    const isFlag = Object.hasOwn(flags, name);
    if (name === "path" && typeof value === "string") path = parsePlainFileUrl(value);
    else if (isFlag && typeof value === "boolean") values[name] = value;
    else if (value !== null || !(isFlag || name === "sandbox")) return undefined;
  }
  if (path === undefined) return undefined;
  return { path, sandbox: undefined, ...(values as Record<Flag, boolean>) };
}
