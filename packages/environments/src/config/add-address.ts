import type { EnvironmentsConfig } from "./environment-config.js";
import { readSshUrl } from "./ssh-url.js";

/**
 * A configuration with the host of an `ssh://` URL besides, whose id is made of the host's name.
 * @returns what is wrong with the URL, where it is none
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

/** Characters of an id, which is the name of an executor, less those of a number behind it. */
const MAX_STEM_LENGTH = 56;
