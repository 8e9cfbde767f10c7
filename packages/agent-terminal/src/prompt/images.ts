import { readFile, stat } from "node:fs/promises";
import { type ContentPart, frameName } from "@codex/agent";
import { messageOf } from "@codex/values";
import { MAX_IMAGE_BYTES } from "../limits.js";
import { PromptError } from "./prompt-error.js";

/**
 * Reads images of this host as message parts: an opening tag with the name, the image, and a closing tag.
 * @throws PromptError for a file that is missing, too large, or not PNG, JPEG, GIF or WebP
 */
export async function readImages(files: readonly string[]): Promise<ContentPart[]> {
  const parts = await Promise.all(files.map(readImage));
  return parts.flat();
}

async function readImage(file: string): Promise<ContentPart[]> {
  const bytes = await read(file);
  const type = findImageType(bytes);
  if (type === undefined) throw new PromptError("bad_input", `image ${file}: not a PNG, JPEG, GIF or WebP image`);
  return [
    { type: "input_text", text: `<image name=${frameName(JSON.stringify(file))}>` },
    { type: "input_image", image_url: `data:${type};base64,${bytes.toString("base64")}`, detail: "high" },
    { type: "input_text", text: "</image>" },
  ];
}

async function read(file: string): Promise<Buffer> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new PromptError("bad_input", `image ${file}: it is not a file`);
    const { size } = found;
    if (size <= MAX_IMAGE_BYTES) return await readFile(file);
    throw new PromptError("bad_input", `image ${file} has ${size} bytes; at most ${MAX_IMAGE_BYTES} are sent`);
  } catch (cause) {
    if (cause instanceof PromptError) throw cause;
    const reason = messageOf(cause);
    throw new PromptError("bad_input", `image ${file} cannot be read: ${reason}`, { cause });
  }
}

/** Detects the type by content. */
function findImageType(bytes: Buffer): string | undefined {
  const begins = (text: string, at = 0) => bytes.subarray(at, at + text.length).equals(Buffer.from(text, "latin1"));
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png";
  if (begins("\xff\xd8\xff")) return "image/jpeg";
  if (begins("GIF87a") || begins("GIF89a")) return "image/gif";
  return begins("RIFF") && begins("WEBP", 8) ? "image/webp" : undefined;
}
