import type { AgentFiles } from "@codex/file-tools";
import { CachedFiles } from "./cached-files.js";
import { findProjectDirectories } from "./project-root.js";
import { readSkills } from "./skills.js";

/** Names without a skill in the project of a directory. @throws when the files cannot be reached */
export async function findMissingSkills(
  names: readonly string[],
  { files, cwd, rootMarkers = [".git"] }: { files: AgentFiles; cwd: string; rootMarkers?: readonly string[] },
): Promise<string[]> {
  const directories = await findProjectDirectories(files, cwd, rootMarkers);
  const { skills } = await readSkills(new CachedFiles(files, files, new Map()), files, directories);
  return [...new Set(names)].filter((name) => !skills.some((skill) => skill.name === name));
}
