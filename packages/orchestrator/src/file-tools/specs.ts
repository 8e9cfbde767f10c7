import { MAX_LISTED_ENTRIES, MAX_READ_LINES, PATCH_DESCRIPTION } from "@codex/file-tools";
import type { ModelTool } from "../catalog/catalog.js";

/** The tools for files that an orchestrator offers itself. */
export type FileToolName = "apply_patch" | "view_image" | "read_file" | "list_dir";

/** All of them, in the order in which they are listed. */
export const FILE_TOOLS: readonly FileToolName[] = ["apply_patch", "view_image", "read_file", "list_dir"];

export const isFileTool = (name: string): name is FileToolName => FILE_TOOLS.some((each) => each === name);

/** Deepest listing, levels. */
export const MAX_DEPTH = 10;

export const DEFAULT_DEPTH = 2;
export const DEFAULT_ENTRIES = 200;

const PATH = { type: "string", description: "Relative to the working directory, or absolute." };
const integer = (description: string, maximum?: number) => ({
  type: "integer",
  minimum: 1,
  ...(maximum === undefined ? {} : { maximum }),
  description,
});

/** How they are described to a model. */
export const FILE_TOOL_SPECS: Readonly<Record<FileToolName, ModelTool>> = {
  apply_patch: {
    name: "apply_patch",
    description: PATCH_DESCRIPTION,
    inputSchema: {
      type: "object",
      properties: { input: { type: "string", description: "The whole patch." } },
      required: ["input"],
    },
  },
  view_image: {
    name: "view_image",
    description: "Shows you a picture file (PNG, JPEG, GIF or WebP) of the environment.",
    inputSchema: { type: "object", properties: { path: PATH }, required: ["path"] },
  },
  read_file: {
    name: "read_file",
    description: "Reads lines of a text file of the environment, each with its number.",
    inputSchema: {
      type: "object",
      properties: {
        path: PATH,
        offset: integer("The first line; default 1."),
        limit: integer(`At most so many lines; default ${MAX_READ_LINES}.`, MAX_READ_LINES),
      },
      required: ["path"],
    },
  },
  list_dir: {
    name: "list_dir",
    description: "Lists a directory of the environment: directories end with a slash, what is below them is indented.",
    inputSchema: {
      type: "object",
      properties: {
        path: { ...PATH, description: `${PATH.description} Default: the working directory.` },
        depth: integer(`Levels of directories; default ${DEFAULT_DEPTH}.`, MAX_DEPTH),
        limit: integer(`At most so many entries; default ${DEFAULT_ENTRIES}.`, MAX_LISTED_ENTRIES),
      },
    },
  },
};
