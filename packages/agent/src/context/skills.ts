import { type AgentFiles, isMissing, pathOfFileUrl } from "@codex/file-tools";
import { cutEnd, decodeText, messageOf, parseFrontMatter } from "@codex/values";
import { MAX_LISTED_SKILLS, MAX_SKILL_BYTES, MAX_SKILL_DESCRIPTION, MAX_SKILL_NAME } from "../limits.js";
import type { CachedFiles } from "./cached-files.js";
import { frameName, frameText } from "./framing.js";
import { joinName } from "./project-root.js";

/** A skill: instructions for a kind of task, in a `SKILL.md`. */
export interface Skill {
  name: string;
  description: string;
  /** Absolute path of its `SKILL.md`. */
  path: string;
  /** The skills directory that contains it. */
  root: string;
  /** Full text of the file. */
  text: string;
}

/** Skills found, nearest to the working directory first, and warnings about invalid files. */
export interface FoundSkills {
  skills: readonly Skill[];
  warnings: readonly string[];
}

const WALK = {
  maxDepth: 6,
  maxDirectories: 2_000,
  maxEntries: 20_000,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: true,
};

/** Reads the skills in `.agents/skills` of each directory. */
export async function readSkills(
  files: CachedFiles,
  walker: Pick<AgentFiles, "walk">,
  directories: readonly string[],
): Promise<FoundSkills> {
  const found = await Promise.all(directories.toReversed().map((directory) => readRoot(files, walker, directory)));
  return { skills: found.flatMap(({ skills }) => skills), warnings: found.flatMap(({ warnings }) => warnings) };
}

async function readRoot(files: CachedFiles, walker: Pick<AgentFiles, "walk">, directory: string): Promise<FoundSkills> {
  const root = joinName(directory, ".agents/skills");
  const warnings: string[] = [];
  try {
    const { entries, truncated } = await walker.walk(root, WALK);
    const all = entries.filter(({ kind, path }) => kind === "file" && path.endsWith("/SKILL.md"));
    const paths = all.map(({ path }) => pathOfFileUrl(path)).slice(0, MAX_LISTED_SKILLS);
    if (truncated || all.length > paths.length) {
      const limits = `limit ${MAX_LISTED_SKILLS} skills, ${WALK.maxEntries} entries, depth ${WALK.maxDepth}`;
      warnings.push(`${frameName(root)} has more skills than are read (${limits})`);
    }
    const skills = await Promise.all(paths.map((path) => readSkill(files, path, root)));
    for (const one of skills) if (typeof one === "string") warnings.push(one);
    return { skills: skills.filter((one) => typeof one !== "string"), warnings };
  } catch (error) {
    return { skills: [], warnings: isMissing(error) ? [] : [`${frameName(root)} cannot be read: ${messageOf(error)}`] };
  }
}

/** Returns the skill, or a warning. */
async function readSkill(files: CachedFiles, path: string, root: string): Promise<Skill | string> {
  const found = await files.find(path);
  if (found.kind !== "file")
    return `${frameName(path)} cannot be read${found.kind === "failed" ? `: ${found.reason}` : ""}`;
  if (found.metadata.size > MAX_SKILL_BYTES) {
    return `${frameName(path)} is left out: it has ${found.metadata.size} bytes; a skill has at most ${MAX_SKILL_BYTES}`;
  }
  try {
    return parseSkill(decodeText(await files.read(path, found.metadata)), path, root);
  } catch (error) {
    return `${frameName(path)} cannot be read: ${messageOf(error)}`;
  }
}

/** Parses a `SKILL.md`; returns a warning when it is invalid. The name defaults to that of its directory. */
export function parseSkill(text: string, path: string, root: string): Skill | string {
  const values = parseFrontMatter(text);
  if (values === undefined)
    return `${frameName(path)} is not a skill: it does not begin with front matter between lines of ---`;
  const name = (values.get("name") || path.split("/").at(-2)) ?? "";
  const description = values.get("description") ?? "";
  if (description === "") return `${frameName(path)} is not a skill: its front matter has no description`;
  if (name.length > MAX_SKILL_NAME)
    return `${frameName(path)} is not a skill: its name has more than ${MAX_SKILL_NAME} characters`;
  return { name, description: cutEnd(description, MAX_SKILL_DESCRIPTION), path, root, text };
}

/** Prefix of every result of `renderSkills`. */
export const SKILLS_OPENING = "<skills_instructions>";

/** Renders the list of skills for the model; undefined when empty. */
export function renderSkills(skills: readonly Skill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const roots = [...new Set(skills.map(({ root }) => root))];
  const aliases = roots.map((root, index) => `- r${index} = ${frameName(root)}`);
  const listed = skills.slice(0, MAX_LISTED_SKILLS).map(({ name, description, path, root }) => {
    const short = `r${roots.indexOf(root)}${path.slice(root.length)}`;
    return `- ${frameName(name)}: ${frameName(description.replace(/\s+/g, " "))} (file: ${frameName(short)})`;
  });
  const rule =
    "Each skill is a file with instructions for a kind of task. Where a task fits a description, read the file first and follow it. Paths in it are relative to its directory.";
  return [SKILLS_OPENING, rule, "Directories:", ...aliases, "Skills:", ...listed, "</skills_instructions>"].join("\n");
}

/** Sent when earlier skills no longer exist. */
export const NO_SKILLS = `${SKILLS_OPENING}\nThere are no skills any more.\n</skills_instructions>`;

/** Skills referenced in a prompt as `$name`, without duplicates. */
export function findNamedSkills(prompt: string, skills: readonly Skill[]): Skill[] {
  const names = new Set(
    [...prompt.matchAll(/\$([\p{L}\p{N}_][\p{L}\p{N}_:.-]*)/gu)].flatMap(([, name]) => [
      name!,
      name!.replace(/(?<![.:-])[.:-]+$/, ""),
    ]),
  );
  const byName = new Map(skills.toReversed().map((skill) => [skill.name, skill]));
  return [...byName.values()].filter(({ name }) => names.has(name)).reverse();
}

/** Renders a skill as message text. */
export const renderSkill = ({ name, path, text }: Skill): string =>
  `<skill>\n<name>${frameName(name)}</name>\n<path>${frameName(path)}</path>\n${frameText(text)}\n</skill>`;
