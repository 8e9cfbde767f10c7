import { parseEnvironmentId } from "../registry/environment-id.js";

/** A parsed path. */
export type Route =
  | { kind: "register" | "connect" | "validate" | "registerDirect"; environmentId: string }
  | {
      kind: "relayExecutor" | "relayHarness" | "directExecutor" | "directHarness" | "legacyHarness";
      environmentId: string;
    }
  | { kind: "ready" | "health" | "metrics" | "list" | "connectLabels" };

/** Kinds of routes that open a websocket. */
export type SocketRoute = Extract<Route, { kind: `${string}Executor` | `${string}Harness` }>;

const PATHS = [
  [/^\/cloud\/environment\/([^/]*)\/register$/, "register"],
  [/^\/cloud\/environment\/([^/]*)\/connect$/, "connect"],
  [/^\/cloud\/environment\/([^/]*)\/validate$/, "validate"],
  [/^\/cloud\/environment\/([^/]*)\/direct\/register$/, "registerDirect"],
  [/^\/relay\/([^/]*)\/executor$/, "relayExecutor"],
  [/^\/relay\/([^/]*)\/harness$/, "relayHarness"],
  [/^\/direct\/([^/]*)\/executor$/, "directExecutor"],
  [/^\/direct\/([^/]*)$/, "directHarness"],
  [/^\/legacy\/([^/]*)$/, "legacyHarness"],
] as const;

const FIXED: Readonly<Record<string, "ready" | "health" | "metrics" | "list" | "connectLabels">> = {
  "/cloud/environments": "list",
  "/cloud/connect": "connectLabels",
  "/readyz": "ready",
  "/healthz": "health",
  "/metrics": "metrics",
};

/**
 * Finds the route of a raw path without query: nothing is decoded or normalized. Undefined if there is none.
 * @throws Refusal `bad_environment_id`
 */
export function parseRoute(path: string): Route | undefined {
  const fixed = Object.hasOwn(FIXED, path) ? FIXED[path] : undefined;
  if (fixed !== undefined) return { kind: fixed };
  for (const [pattern, kind] of PATHS) {
    const part = pattern.exec(path)?.[1];
    if (part !== undefined) return { kind, environmentId: parseEnvironmentId(part) };
  }
  return undefined;
}

/** Whether a route opens a websocket. */
export const isSocketRoute = (route: Route): route is SocketRoute => /(?:Executor|Harness)$/.test(route.kind);
