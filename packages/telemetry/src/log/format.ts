import { MAX_LOG_FIELD_LENGTH } from "../limits.js";
import type { LogFields, LogLevel } from "./logger.js";

/** The formats of a log line: text for people, JSON for programs. */
export const LOG_FORMATS = ["text", "json"] as const;
/** The format of a log line: text for people, JSON for programs. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** One event, before it is formatted. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number;
  level: LogLevel;
  event: string;
  fields: LogFields;
}

/** One line with its line end. `json`: an object; `text`: for people, and control characters are escaped. */
export function formatLine(line: LogLine, format: LogFormat): string {
  return format === "json" ? formatJson(line) : formatText(line);
}

function formatJson({ at, level, event, fields }: LogLine): string {
  const shortened = Object.entries(fields).map(([name, value]) => [name, shorten(value)] as const);
  // Last, so that no field takes their place.
  const own = { time: new Date(at).toISOString(), level, event };
  return `${JSON.stringify({ ...own, ...Object.fromEntries(shortened), ...own })}\n`;
}

function formatText({ at, level, event, fields }: LogLine): string {
  const details = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quote(shorten(value))}`);
  return `${new Date(at).toISOString()} ${level.padEnd(5)} ${escapeControls(event)}${details.join("")}\n`;
}

function shorten(value: LogFields[string]): LogFields[string] {
  if (typeof value !== "string" || value.length <= MAX_LOG_FIELD_LENGTH) return value;
  return `${value.slice(0, MAX_LOG_FIELD_LENGTH)}…`;
}

function quote(value: LogFields[string]): string {
  const text = String(value);
  return /^[\w@%+:,./-]+$/.test(text) ? text : escapeControls(JSON.stringify(text));
}

/** Text for a terminal, which it cannot control: control characters and direction marks are escaped, line feeds and tabs are kept. */
export const escapeForTerminal = (text: string): string => text.replace(/[^\n\t]+/g, escapeControls);

/** JSON leaves C1 controls and direction marks as they are. */
const escapeControls = (text: string): string =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
