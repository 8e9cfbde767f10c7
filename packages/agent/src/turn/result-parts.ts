import { decodeBase64, toImageUrl } from "@codex/file-tools";
import type { ContentPart, ToolOutput } from "@codex/model";
import type { ResultImage } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { MAX_RESULT_IMAGE_CHARS, MAX_RESULT_IMAGES } from "../limits.js";

/** Structured parts of a tool result, as in MCP. */
export interface ResultParts {
  /** Unchanged content parts; undefined for text-only results. */
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
}

/** Extracts the parts of a structured MCP result. Pure. */
export function readParts(structured: object | undefined): ResultParts {
  if (structured === undefined) return {};
  const { content, structuredContent }: { content?: unknown; structuredContent?: unknown } = structured;
  return {
    ...(Array.isArray(content) ? { content } : {}),
    ...defined({ structuredContent }),
  };
}

/** Appends the images of a result to its text, first those of the orchestrator itself; unsupported images and those over the limits are left out. Pure. */
export function withImages(
  text: string,
  { content = [] }: ResultParts,
  detail: "original" | "high",
  own: readonly ResultImage[] = [],
): ToolOutput {
  const images: ContentPart[] = own.map(({ mediaType, data }) => ({
    type: "input_image",
    image_url: `data:${mediaType};base64,${data}`,
    detail,
  }));
  let chars = 0;
  for (const part of content) {
    if (images.length >= MAX_RESULT_IMAGES) break;
    const url = toUrl(part);
    if (url === undefined || chars + url.length > MAX_RESULT_IMAGE_CHARS) continue;
    chars += url.length;
    images.push({ type: "input_image", image_url: url, detail });
  }
  return images.length === 0 ? text : [{ type: "input_text", text }, ...images];
}

function toUrl(part: unknown): string | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  if (!("type" in part) || part.type !== "image" || !("data" in part) || typeof part.data !== "string")
    return undefined;
  const bytes = decodeBase64(part.data);
  const image = bytes === undefined ? undefined : toImageUrl(bytes);
  return image !== undefined && "url" in image ? image.url : undefined;
}
