import { MAX_IMAGE_BYTES, MAX_IMAGE_SIDE } from "../limits.js";
import { encodeBase64 } from "./base64.js";
import { detectImage } from "./image-type.js";

/** Creates the `data:` URL of a supported image, or describes the problem. Pure. */
export function toImageUrl(bytes: Uint8Array): { url: string } | { problem: string } {
  if (bytes.length > MAX_IMAGE_BYTES) {
    return { problem: `has ${bytes.length} bytes; an image has at most ${MAX_IMAGE_BYTES}` };
  }
  const type = detectImage(bytes);
  if (type === undefined) return { problem: "is not an image that can be shown: only PNG, JPEG, GIF and WebP can" };
  const { mediaType, width, height } = type;
  if (width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE) {
    return {
      problem: `has ${width} × ${height} pixels; an image has at most ${MAX_IMAGE_SIDE} on a side: scale it down`,
    };
  }
  if (width === 0 || height === 0) return { problem: "is an image without pixels" };
  return { url: `data:${mediaType};base64,${encodeBase64(bytes)}` };
}
