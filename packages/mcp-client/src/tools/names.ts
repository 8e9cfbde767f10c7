import { createHash } from "node:crypto";
import { MAX_NAME_BYTES } from "../limits.js";

/** The prefix of the names of a server's tools: `mcp__server__`. */
export const prefixOf = (server: string): string => `mcp__${toIdentifier(server)}__`;

/**
 * The name of a tool as shown to a model: `mcp__server__tool`, with `_` for every character other than ASCII letters, digits and `_`. A name over
 * 64 bytes is truncated and ends in `_` and 12 hexadecimal digits of the SHA-1 of server and tool.
 */
export function toModelName(server: string, tool: string): string {
  const name = `${prefixOf(server)}${toIdentifier(tool)}`;
  if (name.length <= MAX_NAME_BYTES) return name;
  const digest = createHash("sha1").update(`${server}\0${tool}`).digest("hex").slice(0, DIGEST_DIGITS);
  return `${name.slice(0, MAX_NAME_BYTES - DIGEST_DIGITS - 1)}_${digest}`;
}

/**
 * Why a server may not have a tool of this name: it would look like a tool of another server. Of `a` and `a__b`, only the latter may have
 * names that begin with `mcp__a__b__`, whichever of them is listed first.
 */
export function findShadowed(server: string, tool: string, servers: readonly string[]): string | undefined {
  const name = `${prefixOf(server)}${toIdentifier(tool)}`;
  const own = prefixOf(server).length;
  const other = servers.find((each) => prefixOf(each).length > own && name.startsWith(prefixOf(each)));
  return other === undefined ? undefined : `its name \`${name}\` is that of a tool of the server \`${other}\``;
}

/** Why a server name is invalid; undefined if it is valid. */
export function findNameProblem(server: string): string | undefined {
  if (/^[A-Za-z0-9_-]+$/.test(server) && server.length <= MAX_SERVER_NAME) return undefined;
  return `a server is named with 1 to ${MAX_SERVER_NAME} ASCII letters, digits, - and _`;
}

const toIdentifier = (text: string): string => text.replace(/[^A-Za-z0-9_]/gu, "_");

const DIGEST_DIGITS = 12;

/** Leaves room for the digest. */
const MAX_SERVER_NAME = 40;
