import { MAX_ENVIRONMENT_ID_CHARS } from "../limits.js";
import { Refusal } from "../refusal.js";

/** Parses a segment of a path as an environment id. It is not decoded: no character of an id needs encoding. @throws Refusal */
export function parseEnvironmentId(part: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(part) && part.length <= MAX_ENVIRONMENT_ID_CHARS) return part;
  throw new Refusal(
    "bad_environment_id",
    `an environment id has 1 to ${MAX_ENVIRONMENT_ID_CHARS} characters: ASCII letters, digits, - and _`,
  );
}
