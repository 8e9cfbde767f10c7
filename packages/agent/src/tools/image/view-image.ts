import { resolvePath } from "@codex/apply-patch";
import { isMissing, MAX_IMAGE_BYTES, toImageUrl } from "@codex/file-tools";
import { messageOf } from "@codex/values";
import type { ImageDetails } from "../../events/thread-item.js";
import { type FileEnvironments, type FilePlace, type FileSandboxes, findFilePlace } from "../../files/file-place.js";
import type { AgentTool, AgentToolResult } from "../agent-tool.js";

/** Options of {@link createViewImageTool}. */
export interface ViewImageOptions {
  environments: FileEnvironments;
  policy: FileSandboxes;
  /** Request the original size; otherwise the endpoint scales images down. */
  originalImages: boolean;
}

/** Creates `view_image`, which adds an image file of the environment to the conversation. */
export function createViewImageTool(options: ViewImageOptions): AgentTool {
  const names = options.environments.ids.length > 1;
  return {
    spec: {
      name: "view_image",
      description: "Shows you a picture file (PNG, JPEG, GIF or WebP) of the environment.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: "Relative to the working directory, or absolute." },
          ...(names ? { environment_id: { type: "string", enum: options.environments.ids } } : {}),
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
    needsEnvironment: true,
    async call({ path, environment_id }, context) {
      if (typeof path !== "string" || path === "") return failed("`path` is missing or not a string");
      const named = typeof environment_id === "string" ? environment_id : undefined;
      const place = await findFilePlace({ environment: named }, context, options);
      if ("unknown" in place) return failed(place.unknown);
      if ("refused" in place) return failed(place.refused);
      const full = resolvePath(place.cwd, path);
      const item: ImageDetails = { kind: "image", path: full, environment: place.environment.id };
      context.show(item);
      const read = await readImage(place, full);
      if ("problem" in read) return { ...failed(`\`${full}\` ${read.problem}`), item };
      const detail = options.originalImages ? "original" : "high";
      const image = { type: "input_image", image_url: read.url, detail } as const;
      return { output: [...toParts(place.environment.notice), image], item };
    },
  };
}

async function readImage({ files }: FilePlace, path: string): Promise<{ url: string } | { problem: string }> {
  try {
    const { isFile, isDirectory, size } = await files.getMetadata(path);
    if (!isFile) return { problem: isDirectory ? "is a directory, not a file" : "is not a file" };
    if (size > MAX_IMAGE_BYTES) return { problem: `has ${size} bytes; an image has at most ${MAX_IMAGE_BYTES}` };
    return toImageUrl(await files.readFile(path, { size }));
  } catch (error) {
    return { problem: isMissing(error) ? "does not exist" : `cannot be read: ${messageOf(error)}` };
  }
}

const failed = (problem: string): AgentToolResult => ({ output: `view_image: ${problem}.`, status: "failed" });

const toParts = (text?: string) => (text === undefined ? [] : [{ type: "input_text" as const, text }]);
