import { MAX_RESULT_IMAGES } from "../limits.js";
import type { ContentPart, ToolOutput } from "../model/items.js";
import { decodeBase64 } from "../tools/image/base64.js";
import { toImageUrl } from "../tools/image/image-url.js";

/** Parts of a result that is more than text, as a tool of MCP has them. */
export interface ResultParts {
  /** As they came; undefined where the text is all there is. */
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
}

/** Reads the structured result of a tool without a contract. Pure. */
export function readParts(structured: object | undefined): ResultParts {
  if (structured === undefined) return {};
  const { content, structuredContent }: { content?: unknown; structuredContent?: unknown } = structured;
  return {
    ...(Array.isArray(content) ? { content } : {}),
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
}

/** Text with the pictures of a result behind it; what is no picture that models take is in the text alone. Pure. */
export function withImages(text: string, { content = [] }: ResultParts, detail: "original" | "high"): ToolOutput {
  const images: ContentPart[] = [];
  for (const part of content) {
    if (images.length >= MAX_RESULT_IMAGES) break;
    const url = toUrl(part);
    if (url !== undefined) images.push({ type: "input_image", image_url: url, detail });
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
