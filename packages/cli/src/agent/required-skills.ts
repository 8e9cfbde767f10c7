import { findMissingSkills } from "@codex/agent";
import type { AgentSettings } from "@codex/agent-terminal";
import { messageOf } from "@codex/values";
import { areEnvironmentsConfigured, type ConnectOptions } from "../connect.js";
import { CommandError } from "../exit-codes.js";
import type { Place } from "./open-place.js";
import type { Workspace } from "./open-workspace.js";

/**
 * Checks that the projects of the configured environments of a run have the skills that their configuration requires.
 * @throws CommandError for one that is missing, and for an environment that cannot be asked for it
 */
export async function checkRequiredSkills(
  { getEnvironment, executor, ids = [executor.name] }: Place,
  workspace: Workspace,
  { projectRootMarkers }: AgentSettings,
  { executor: address }: ConnectOptions,
): Promise<void> {
  if (address !== undefined || !areEnvironmentsConfigured()) return;
  const { loadConfigured } = await import("../configured-environments.js");
  const { environments } = await loadConfigured();
  for (const { id, requiredSkills, place } of environments) {
    if (requiredSkills.length === 0 || !ids.includes(id)) continue;
    const refuse = (why: string) => new CommandError(`${place}: environment \`${id}\` ${why}: nothing was run`);
    const environment = getEnvironment(id);
    const missing = await (async () => {
      const cwd = (id === executor.name ? workspace.cwd : undefined) ?? (await environment.info()).cwd;
      const markers = projectRootMarkers === undefined ? {} : { rootMarkers: projectRootMarkers };
      return findMissingSkills(requiredSkills, { files: environment.files, cwd, ...markers });
    })().catch((error: unknown) => {
      throw refuse(`could not be checked for its required skills: ${messageOf(error)}`);
    });
    if (missing.length === 0) continue;
    const names = missing.map((name) => JSON.stringify(name)).join(", ");
    throw refuse(`has no skill ${names} in the \`.agents/skills\` of its project, required by \`skills.required\``);
  }
}
