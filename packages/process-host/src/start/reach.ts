import { isAbsolute, join } from "node:path/posix";
import type { CommandReach } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";

/** Where a sandboxed command finds programs, and where it can change them. */
export function toReach(env: Readonly<Record<string, string>>, { access }: WrappedCommand): CommandReach | undefined {
  if (access === undefined) return undefined;
  const directories = (env.PATH ?? "").split(":").filter(isAbsolute);
  return { path: directories.map(withoutEnd), access };
}

/** Without a slash at its end. */
const withoutEnd = (path: string): string => join(path, "x").slice(0, -2) || "/";
