import { type Address, parseAddress, parseLooseIpv4, renderAddress } from "./address.js";

/** A host that a command wants to reach. */
export interface Host {
  /** The name in lower case without a final dot, or the address in its usual form without brackets. */
  text: string;
  /** The address that `text` is. */
  address?: Address;
  /** The address that every C library takes `text` for, though it is no usual form of one: `127.1`, `0x7f.1`, `2130706433`. */
  spelled?: Address;
}

/** The loopback address of the executor's host, under the name by which its sandboxed commands reach it. */
export const HOST_LOOPBACK_NAME = "host.internal";

/**
 * Parses the host of a request: a name of letters, digits, `-` and `_` in labels of at most 63 characters, 253 in all,
 * with at most one final dot, or an address. Undefined if it is none, which includes everything that is not ASCII.
 */
export function parseHost(text: string): Host | undefined {
  if (text.length > MAX_NAME_LENGTH + 1) return undefined;
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const address = parseAddress(bare);
  if (address !== undefined) return { text: renderAddress(address), address };
  const name = text.toLowerCase().replace(/\.$/, "");
  if (!isName(name)) return undefined;
  const spelled = parseLooseIpv4(name);
  if (spelled !== undefined) return { text: name, spelled };
  // Resolvers disagree on whether such text is an address.
  return /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name) ? undefined : { text: name };
}

/** Whether a text is a name in lower case, in ASCII, without a final dot. */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && text.split(".").every((label) => LABEL.test(label));
}

/** Whether a name stands for the machine that resolves it. */
export function isLocalhostName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

const MAX_NAME_LENGTH = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
