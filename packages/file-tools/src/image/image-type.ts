/** A supported image: media type, and size in pixels from its header. */
export interface ImageType {
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  width: number;
  height: number;
}

/** Detects PNG, JPEG, GIF and WebP by content; undefined for anything else. */
export function detectImage(bytes: Uint8Array): ImageType | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readPng(view) ?? readGif(view) ?? readWebp(view) ?? readJpeg(view);
  } catch (error) {
    // Truncated header.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const hasText = (view: DataView, at: number, text: string): boolean =>
  [...text].every((character, index) => view.getUint8(at + index) === character.charCodeAt(0));

function readPng(view: DataView): ImageType | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return undefined;
  if (!hasText(view, 12, "IHDR")) return undefined;
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageType | undefined {
  if (view.byteLength < 10 || !(hasText(view, 0, "GIF87a") || hasText(view, 0, "GIF89a"))) return undefined;
  return { mediaType: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function readWebp(view: DataView): ImageType | undefined {
  if (view.byteLength < 30 || !hasText(view, 0, "RIFF") || !hasText(view, 8, "WEBP")) return undefined;
  const size = readWebpSize(view);
  return size === undefined ? undefined : { mediaType: "image/webp", width: size[0], height: size[1] };
}

/** By the type of its first chunk: lossy, lossless, extended. */
function readWebpSize(view: DataView): readonly [number, number] | undefined {
  if (hasText(view, 12, "VP8 ")) return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (hasText(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  if (!hasText(view, 12, "VP8X")) return undefined;
  const read24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  return [read24(24) + 1, read24(27) + 1];
}

/** Scans the markers up to the frame header. */
function readJpeg(view: DataView): ImageType | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8 || view.getUint8(2) !== 0xff) return undefined;
  for (let at = 2; ; ) {
    while (view.getUint8(at) === 0xff) at += 1;
    const marker = view.getUint8(at);
    if (isFrameHeader(marker)) {
      return { mediaType: "image/jpeg", width: view.getUint16(at + 6), height: view.getUint16(at + 4) };
    }
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    if (marker === 0xd9 || marker === 0xda || marker === 0) return undefined;
    at += isAlone ? 1 : 1 + Math.max(2, view.getUint16(at + 1));
    if (view.getUint8(at) !== 0xff) return undefined;
  }
}

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
