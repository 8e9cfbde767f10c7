import { decodeText, isText, messageOf } from "@codex/values";
import { MAX_READ_DOC_BYTES } from "../limits.js";
import type { CachedFiles } from "./cached-files.js";
import { frameName, frameText } from "./framing.js";
import { joinName } from "./project-root.js";

/** Instructions of a user and a project. */
export interface ProjectDocs {
  /** The user's own, from the orchestrator's host. */
  home: string | undefined;
  /** The project's, root directory first. */
  project: readonly string[];
  warnings: readonly string[];
}

/**
 * Reads a project's instructions: in each directory the first existing file of `names`, truncated to `maxBytes` in total at a
 * character boundary. An empty file adds nothing but still hides the names after it.
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
    const text = decodeText(one.bytes);
    if (text.trim() === "") continue;
    if (!isText(one.bytes)) warnings.push(`${frameName(one.path)} is not UTF-8 text: the model gets it with gaps`);
    const bytes = new TextEncoder().encode(text);
    const kept = bytes.length > room ? decodeText(bytes.subarray(0, findCharacterBoundary(bytes, room))) : text;
    if (bytes.length > room) {
      const rest = `${bytes.length - room} of its ${bytes.length} bytes are left out`;
      warnings.push(
        `${frameName(one.path)} is cut: ${rest}, since the instructions of a project have at most ${maxBytes} bytes`,
      );
    }
    room = Math.max(0, room - bytes.length);
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
      return { warning: `${frameName(path)} cannot be read: ${messageOf(error)}` };
    }
  }
  return undefined;
}

/** Offset at or below `length` that does not split a UTF-8 character. */
function findCharacterBoundary(bytes: Uint8Array, length: number): number {
  let at = length;
  while (at > 0 && length - at < 3 && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  return (bytes[at]! & 0xc0) === 0x80 ? length : at;
}

/** Prefix of every result of `renderProjectDocs`. */
export const DOCS_OPENING = "# AGENTS.md instructions";

/** Renders instructions for the model; undefined when there are none. Texts and directory names are escaped. */
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

/** Separates the user's instructions (before) from the project's (after). */
const SEPARATOR = "--- project-doc ---";
const SEPARATOR_LINE = /^[ \t]*--- project-doc ---/gm;

/** Sent when earlier instructions no longer exist. */
export const NO_DOCS = `${DOCS_OPENING}\n\nThere are none any more: those above do not apply.`;

/** Follows instructions that take the place of earlier ones. */
export const REPLACES_DOCS = "They replace all AGENTS.md instructions above.";
