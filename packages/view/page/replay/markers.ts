/** A marker of a recording. */
interface Marker {
  /** Seconds since the start. */
  readonly at: number;
  readonly label: string;
}

/** Markers of an asciicast 2 or 3: calls, and missing output. */
export function findMarkers(text: string): Marker[] {
  const [first = "", ...lines] = text.split("\n");
  const isRelative = /"version":\s*3/.test(first);
  const markers: Marker[] = [];
  let now = 0;
  for (const line of lines) {
    const event = parse(line);
    if (event === undefined) continue;
    const [time, code, data] = event;
    now = isRelative ? now + time : time;
    if (code === "m") markers.push({ at: now, label: data === "" ? "marker" : data });
  }
  return markers;
}

function parse(line: string): [number, string, string] | undefined {
  if (!line.startsWith("[")) return undefined;
  try {
    const [time, code, data]: unknown[] = JSON.parse(line);
    return typeof time === "number" && typeof code === "string" && typeof data === "string"
      ? [time, code, data]
      : undefined;
  } catch {
    return undefined;
  }
}
