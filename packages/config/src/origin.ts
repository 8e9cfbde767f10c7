/** The origin of a value. Lines and columns count from 1. */
export type Origin =
  /** `why`: what the default depends on, unless it is a constant. */
  | { kind: "default"; why?: string }
  | { kind: "file"; layer: FileLayer; file: string; line?: number; column?: number }
  | { kind: "flag"; flag: string }
  | { kind: "environment"; variable: string };

/** Kinds of files that contain settings. */
export type FileLayer = "system" | "user" | "profile" | "project" | "requirements";

export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return origin.why === undefined ? "default" : `default: ${origin.why}`;
    case "file":
      return [origin.file, origin.line, origin.column].filter((part) => part !== undefined).join(":");
    case "flag":
      return `flag ${origin.flag}`;
    case "environment":
      return `environment ${origin.variable}`;
  }
}

/** Describes a place, without the column. */
export const describePlace = (origin: Origin): string =>
  origin.kind === "file" && origin.line !== undefined ? `${origin.file}:${origin.line}` : describeOrigin(origin);
