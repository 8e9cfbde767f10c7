import { reasonOf } from "../files/agent-files.js";
import { MAX_READ_DOC_BYTES } from "../limits.js";
import type { CachedFiles } from "./cached-files.js";
import { frameName, frameText } from "./framing.js";
import { joinName } from "./project-root.js";

/** What the instructions of a project are made of. */
export interface ProjectDocs {
  /** Of the person, from the orchestrator's disk; undefined for none. */
  home: string | undefined;
  /** Of the project, root first. */
  project: readonly string[];
  warnings: readonly string[];
}

/**
 * Reads the instructions of a project: of each directory the first file of `names` that exists, cut at `maxBytes` over all of
 * them, at the edge of a character. An empty file hides those after it, and adds nothing.
 */
export async function readProjectDocs(
  files: CachedFiles,
  directories: readonly string[],
  names: readonly string[],
  maxBytes: number,
): Promise<Pick<ProjectDocs, "project" | "warnings">> {
  if (maxBytes <= 0) return { project: [], warnings: [] };
  const found = await Promise.all(directories.map((directory) => readFirst(files, directory, names)));
  const project: string[] = [];
  const warnings: string[] = [];
  let room = maxBytes;
  for (const one of found) {
    if (one === undefined) continue;
    if ("warning" in one) {
      warnings.push(one.warning);
      continue;
    }
    const text = decode(one.bytes);
    if (text.trim() === "") continue;
    const kept = one.bytes.length > room ? decode(one.bytes.subarray(0, findEdge(one.bytes, room))) : text;
    if (one.bytes.length > room) {
      const rest = `${one.bytes.length - room} of its ${one.bytes.length} bytes are left out`;
      warnings.push(
        `${frameName(one.path)} is cut: ${rest}, since the instructions of a project have at most ${maxBytes} bytes`,
      );
    }
    room = Math.max(0, room - one.bytes.length);
    if (kept !== "") project.push(kept);
  }
  return { project, warnings };
}

async function readFirst(
  files: CachedFiles,
  directory: string,
  names: readonly string[],
): Promise<{ path: string; bytes: Uint8Array } | { warning: string } | undefined> {
  for (const name of names) {
    const path = joinName(directory, name);
    const found = await files.find(path);
    if (found.kind === "none") continue;
    if (found.kind === "failed") return { warning: `${frameName(path)} cannot be read: ${found.reason}` };
    const { metadata } = found;
    if (metadata.size > MAX_READ_DOC_BYTES) {
      return {
        warning: `${frameName(path)} is left out: it has ${metadata.size} bytes; at most ${MAX_READ_DOC_BYTES} are read`,
      };
    }
    try {
      return { path, bytes: await files.read(path, metadata) };
    } catch (error) {
      return { warning: `${frameName(path)} cannot be read: ${reasonOf(error)}` };
    }
  }
  return undefined;
}

/** Invalid UTF-8 becomes U+FFFD. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The end of the last whole character within so many bytes. */
function findEdge(bytes: Uint8Array, length: number): number {
  let at = length;
  while (at > 0 && length - at < 3 && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  return (bytes[at]! & 0xc0) === 0x80 ? length : at;
}

/** What every text of `renderProjectDocs` begins with. */
export const DOCS_OPENING = "# AGENTS.md instructions";

/** The instructions as the model reads them; undefined without any. No text and no directory name can leave its frame. */
export function renderProjectDocs(
  { home, project }: Pick<ProjectDocs, "home" | "project">,
  cwd: string,
): string | undefined {
  if (home === undefined && project.length === 0) return undefined;
  const title = project.length === 0 ? DOCS_OPENING : `${DOCS_OPENING} for ${frameName(cwd)}`;
  const own = project.map((text) => frameText(text).replace(SEPARATOR_LINE, "\\$&")).join("\n\n");
  const parts = [...(home === undefined ? [] : [frameText(home)]), ...(project.length === 0 ? [] : [own])];
  return `${title}\n\n<INSTRUCTIONS>\n${parts.join(`\n\n${SEPARATOR}\n\n`)}\n</INSTRUCTIONS>`;
}

/** What is before it comes from the person, what is behind it from the project. */
const SEPARATOR = "--- project-doc ---";
const SEPARATOR_LINE = /^[ \t]*--- project-doc ---/gm;

/** Told where instructions were told before, and are gone. */
export const NO_DOCS = `${DOCS_OPENING}\n\nThere are none any more: those above do not apply.`;
