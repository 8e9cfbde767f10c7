import type { AgentFiles } from "../files/agent-files.js";
import type { ContextSection } from "../history/context-sections.js";
import { DEFAULT_PROJECT_DOC_BYTES } from "../limits.js";
import { createMessage, type MessageItem } from "../model/items.js";
import { CachedFiles, type FileMemory } from "./cached-files.js";
import { DOCS_OPENING, NO_DOCS, readProjectDocs, renderProjectDocs } from "./project-docs.js";
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

/** Where the project of a turn is. */
export interface ProjectPlace {
  files: AgentFiles;
  /** The same files as commands may read them: links of a project are read with these. */
  confined: AgentFiles;
  /** Absolute. */
  cwd: string;
}

/** What a person has beside their projects, on the orchestrator's own disk. */
export interface HomeFiles {
  /** A file of the home of this program; undefined where there is none. */
  readDoc(name: "AGENTS.override.md" | "AGENTS.md"): Promise<Uint8Array | undefined>;
  /** Files `SKILL.md`, below their directories of skills. */
  readSkills(): Promise<readonly { path: string; root: string; text: string }[]>;
  /** The environment reads the same disk: its skills can be listed by path. */
  isShared: boolean;
}

/** How a project is found and read; the names are those of the configuration. */
export interface ProjectContextOptions {
  /** Default `.git`; none: the working directory alone is the project. */
  rootMarkers?: readonly string[];
  /** Plain names, read where there is no `AGENTS.md`. */
  fallbackNames?: readonly string[];
  /** Bytes of all instructions of a project; 0: none are read. */
  maxDocBytes?: number;
  home?: HomeFiles;
}

/** What a turn is told of its project. */
export interface ProjectContext {
  sections: readonly ContextSection[];
  /** The skills that the prompt names. */
  messages: readonly MessageItem[];
  /** For the user; each is told once. */
  warnings: readonly string[];
}

/** Reads the instructions and skills of a project. */
export interface ProjectReader {
  /** To be called before each turn; what has not changed is not read again. @throws when the environment cannot be reached */
  read(place: ProjectPlace, prompt: string): Promise<ProjectContext>;
}

/** Creates a reader that remembers what it has read and told. */
export function createProjectReader(options: ProjectContextOptions = {}): ProjectReader {
  const { rootMarkers = [".git"], fallbackNames = [], maxDocBytes = DEFAULT_PROJECT_DOC_BYTES, home } = options;
  const markers = rootMarkers.filter(isPlain);
  const names = ["AGENTS.override.md", "AGENTS.md", ...fallbackNames.filter(isPlain)];
  const warned = new Set<string>();
  const told = { docs: false, skills: false };
  let memory: { files: AgentFiles; known: FileMemory } | undefined;

  /** A section, or that there is none any more. */
  const section = (
    kind: keyof typeof told,
    made: Omit<ContextSection, "text">,
    text: string | undefined,
    none: string,
  ) => {
    const wasTold = told[kind];
    told[kind] = wasTold || text !== undefined;
    return text === undefined && !wasTold ? [] : [{ ...made, text: text ?? none }];
  };

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
      const skills = section("skills", { role: "developer", opening: SKILLS_OPENING }, renderSkills(listed), NO_SKILLS);
      const text = renderProjectDocs({ home: homeDoc, project: docs.project }, cwd);
      const named = findNamedSkills(prompt, [...found.skills, ...homeSkills]);
      const warnings = [...docs.warnings, ...found.warnings].filter((one) => !warned.has(one));
      for (const one of warnings) warned.add(one);
      return {
        sections: [...skills, ...section("docs", { role: "user", opening: DOCS_OPENING }, text, NO_DOCS)],
        messages: named.map((skill) => createMessage("user", renderSkill(skill))),
        warnings,
      };
    },
  };
}

const isPlain = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);

/** The override, or what it does not replace; never cut. */
async function readHomeDoc(home: HomeFiles | undefined): Promise<string | undefined> {
  for (const name of ["AGENTS.override.md", "AGENTS.md"] as const) {
    const text = new TextDecoder().decode(await home?.readDoc(name)).trim();
    if (text !== "") return text;
  }
  return undefined;
}

async function readHomeSkills(home: HomeFiles | undefined): Promise<Skill[]> {
  const files = (await home?.readSkills()) ?? [];
  return files.map(({ path, root, text }) => parseSkill(text, path, root)).filter((one) => typeof one !== "string");
}
