import type { renderEnvironmentContext } from "@codex/agent";

/** An environment as listed by an orchestrator. */
interface ListedEnvironment {
  id: string;
  status: string;
  reason?: string;
  cwd?: string;
  shell?: string;
}

type EnvironmentDescription = Parameters<typeof renderEnvironmentContext>[0]["environments"][number];

/** Environments besides the default, for `renderEnvironmentContext`. */
export const describeOthers = (listed: readonly ListedEnvironment[]): EnvironmentDescription[] =>
  listed.map(({ id, status, reason, cwd, shell }) => ({
    id,
    ...(cwd === undefined ? {} : { cwd }),
    ...(shell === undefined ? {} : { shell }),
    ...(status === "failed" ? { error: reason ?? "it cannot be reached" } : {}),
    ...(status === "disconnected" ? { status: "connected on first use" } : status === "ready" ? {} : { status }),
  }));

/** The date (`YYYY-MM-DD`) and timezone of this host, for `renderEnvironmentContext`. */
export function getToday(): { date: string; timezone: string } {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return { date, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone };
}
