import type { AgentFiles } from "@codex/file-tools";
import { createMessage, type MessageItem } from "@codex/model";
import { decodeText } from "@codex/values";
import type { ContextSection } from "../history/context-sections.js";
import { DEFAULT_PROJECT_DOC_BYTES } from "../limits.js";
import { CachedFiles, type FileMemory } from "./cached-files.js";
import { DOCS_OPENING, NO_DOCS, REPLACES_DOCS, readProjectDocs, renderProjectDocs } from "./project-docs.js";
import { findProjectDirectories } from "./project-root.js";
import {
  findNamedSkills,
  NO_SKILLS,
  parseSkill,
  readSkills,
  renderSkill,
  renderSkills,
  SKILLS_OPENING,
  type Skill,
} from "./skills.js";

/** Location of a turn's project. */
export interface ProjectPlace {
  files: AgentFiles;
  /** The same files within the command sandbox; symlinks are read through it. */
  confined: AgentFiles;
  /** Absolute. */
  cwd: string;
}

/** The user's own instructions and skills, on the orchestrator's host. */
export interface HomeFiles {
  /** Reads a file in `$CODEX_HOME`; undefined when it does not exist. */
  readDoc(name: "AGENTS.override.md" | "AGENTS.md"): Promise<Uint8Array | undefined>;
  /** All `SKILL.md` files; `root` is the skills directory. */
  readSkills(): Promise<readonly { path: string; root: string; text: string }[]>;
  /** The environment shares this file system, so skills can be listed by path. */
  isShared: boolean;
}

/** How a project is found and read; named as in `config.toml`. */
export interface ProjectContextOptions {
  /** Default `[".git"]`; empty: the project is the working directory only. */
  rootMarkers?: readonly string[];
  /** Plain file names, read where there is no `AGENTS.md`. */
  fallbackNames?: readonly string[];
  /** Maximum total bytes of project instructions; 0 disables them. */
  maxDocBytes?: number;
  home?: HomeFiles;
}

/** A project's contribution to the context of a turn. */
export interface ProjectContext {
  sections: readonly ContextSection[];
  /** Skills named in the prompt. */
  messages: readonly MessageItem[];
  /** Shown to the user, each once per reader. */
  warnings: readonly string[];
}

/** Reads the instructions and skills of a project. */
export interface ProjectReader {
  /** Call before each turn; unchanged files are not read again. @throws when the environment cannot be reached */
  read(place: ProjectPlace, prompt: string): Promise<ProjectContext>;
}

/** Creates a reader that caches files, and reports each warning once. */
export function createProjectReader(options: ProjectContextOptions = {}): ProjectReader {
  const { rootMarkers = [".git"], fallbackNames = [], maxDocBytes = DEFAULT_PROJECT_DOC_BYTES, home } = options;
  const markers = rootMarkers.filter(isPlain);
  const names = ["AGENTS.override.md", "AGENTS.md", ...fallbackNames.filter(isPlain)];
  const warned = new Set<string>();
  let memory: { files: AgentFiles; known: FileMemory } | undefined;

  return {
    async read({ files, confined, cwd }, prompt) {
      if (memory?.files !== files) memory = { files, known: new Map() };
      const cached = new CachedFiles(files, confined, memory.known);
      const directories = await findProjectDirectories(files, cwd, markers);
      const [docs, found, homeDoc, homeSkills] = await Promise.all([
        readProjectDocs(cached, directories, names, maxDocBytes),
        readSkills(cached, files, directories),
        readHomeDoc(home),
        readHomeSkills(home),
      ]);
      cached.forgetUnused();
      const listed = [...found.skills, ...(home?.isShared === true ? homeSkills : [])];
      const skills = createSection("developer", SKILLS_OPENING, renderSkills(listed), NO_SKILLS);
      const text = renderProjectDocs({ home: homeDoc, project: docs.project }, cwd);
      const named = findNamedSkills(prompt, [...found.skills, ...homeSkills]);
      const warnings = [...docs.warnings, ...found.warnings].filter((one) => !warned.has(one));
      for (const one of warnings) warned.add(one);
      return {
        sections: [skills, createSection("user", DOCS_OPENING, text, NO_DOCS, REPLACES_DOCS)],
        messages: named.map((skill) => createMessage("user", renderSkill(skill))),
        warnings,
      };
    },
  };
}

/** @param none text that revokes an earlier section; `replaces` is appended to a section that replaces one */
function createSection(
  role: ContextSection["role"],
  opening: string,
  text: string | undefined,
  none: string,
  replaces = "",
): ContextSection {
  if (text === undefined) return { role, opening, text: none, revokes: true };
  return { role, opening, text, ...(replaces === "" ? {} : { update: `${text}\n${replaces}` }) };
}

const isPlain = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);

/** Reads `AGENTS.override.md`, or else `AGENTS.md`; never truncated. */
async function readHomeDoc(home: HomeFiles | undefined): Promise<string | undefined> {
  for (const name of ["AGENTS.override.md", "AGENTS.md"] as const) {
    const text = decodeText((await home?.readDoc(name)) ?? new Uint8Array()).trim();
    if (text !== "") return text;
  }
  return undefined;
}

async function readHomeSkills(home: HomeFiles | undefined): Promise<Skill[]> {
  const files = (await home?.readSkills()) ?? [];
  return files.map(({ path, root, text }) => parseSkill(text, path, root)).filter((one) => typeof one !== "string");
}
