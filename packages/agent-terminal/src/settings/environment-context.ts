import { readlinkSync } from "node:fs";
import type { renderEnvironmentContext } from "@codex/agent";
import { defined } from "@codex/values";

/** An environment as listed by an orchestrator. */
interface ListedEnvironment {
  id: string;
  status: string;
  reason?: string;
  cwd?: string;
  shell?: string;
}

type ContextEnvironment = Parameters<typeof renderEnvironmentContext>[0]["environments"][number];

/** Environments besides the default, for `renderEnvironmentContext`. */
export const describeOthers = (listed: readonly ListedEnvironment[]): ContextEnvironment[] =>
  listed.map(({ id, status, reason, cwd, shell }) => ({
    id,
    ...defined({ cwd, shell }),
    ...(status === "failed" ? { error: reason ?? "it cannot be reached" } : {}),
    ...(status === "disconnected" ? { status: "connected on first use" } : status === "ready" ? {} : { status }),
  }));

/**
 * The date (`YYYY-MM-DD`) and timezone of this host, for `renderEnvironmentContext`.
 * @param localtime path of the symlink to the system's timezone file
 */
export function getToday(localtime = "/etc/localtime"): { date: string; timezone: string } {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const linked = process.env.TZ === undefined ? readZone(localtime) : undefined;
  return { date, timezone: linked ?? Intl.DateTimeFormat().resolvedOptions().timeZone };
}

/** The timezone name at the end of the link's target. `Intl` would need some 10 ms to load its date formats. */
function readZone(localtime: string): string | undefined {
  try {
    const [, name] = /\/zoneinfo\/(.*)/.exec(readlinkSync(localtime)) ?? [];
    return name !== undefined && /^[\w/+-]+$/.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
