import type { EnvironmentsConfig } from "./environment-config.js";
import { readSshUrl } from "./ssh-url.js";

/**
 * A configuration extended by the host of an `ssh://` URL, with an id derived from the host name.
 * @returns the problem with the URL if it is invalid
 */
export function addSshAddress(
  config: EnvironmentsConfig,
  url: string,
  place: string,
): { config: EnvironmentsConfig; id: string } | string {
  const parts = readSshUrl(url);
  if (typeof parts === "string") return parts;
  const taken = new Set(config.environments.map(({ id }) => id));
  const stem = `ssh-${parts.host.replace(/[^A-Za-z0-9_.-]/g, "-")}`.slice(0, MAX_STEM_LENGTH);
  let id = stem;
  for (let count = 2; taken.has(id); count += 1) id = `${stem}-${count}`;
  const timeouts = { initializeTimeoutMs: 10_000, connectTimeoutMs: 10_000 };
  const added = { kind: "ssh", id, url, place, ...timeouts, requiredSkills: [] } as const;
  return { config: { ...config, environments: [...config.environments, added] }, id };
}

/** Maximum length of the derived id, leaving room for a numeric suffix. */
const MAX_STEM_LENGTH = 56;
