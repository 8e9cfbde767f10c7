import { domainToASCII } from "node:url";
import { defined } from "@codex/values";
import { type AddressBlock, isInBlock, parseAddress, parseBlock, parseLooseIpv4, renderAddress } from "./address.js";
import { HOST_LOOPBACK_NAME, type Host, isName } from "./host.js";
import { getEmbedded } from "./local-address.js";

/** Hosts, and the ports of them that are meant. */
export interface Pattern {
  hosts:
    | { kind: "any" }
    /** `apex`: whether the name itself is meant, `below`: whether names below it are. */
    | { kind: "name"; name: string; apex: boolean; below: boolean }
    | { kind: "block"; block: AddressBlock };
  /** Inclusive; undefined for all. */
  ports?: { first: number; last: number };
}

/** A pattern that is none. The message names the pattern and what is wrong with it. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/**
 * Parses a pattern: `name`, `*.name` (names below it), `**.name` (both), `*`, an address, or a block of addresses
 * `10.0.0.0/8`; each with an optional `:port` or `:first-last`, an IPv6 address then in brackets. Names may be written
 * in Unicode.
 *
 * @throws {PatternError} if it is none
 */
export function parsePattern(text: string): Pattern {
  const fail = (problem: string): never => {
    throw new PatternError(`network pattern ${JSON.stringify(text.slice(0, MAX_SHOWN))}: ${problem}`);
  };
  if (text === "") fail("is empty");
  if (text.length > MAX_PATTERN_LENGTH)
    fail(`has ${text.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
  const split = splitPorts(text);
  const ports = split.ports === undefined ? undefined : (parsePorts(split.ports) ?? fail(`has no port ${PORTS}`));
  const hosts = parseHosts(split.host, fail);
  if (
    hosts.kind === "name" &&
    hosts.name === HOST_LOOPBACK_NAME &&
    (ports === undefined || !hosts.apex || hosts.below)
  ) {
    fail(`names the loopback of the executor's host: write it as "${HOST_LOOPBACK_NAME}:PORT"`);
  }
  return ports === undefined ? { hosts } : { hosts, ports };
}

/** Whether a pattern names exactly this host and port. An address within IPv6 is not the IPv4 address that it embeds. */
export function matches({ hosts, ports }: Pattern, host: Host, port: number): boolean {
  if (ports !== undefined && (port < ports.first || port > ports.last)) return false;
  if (hosts.kind === "any") return true;
  if (hosts.kind === "block") return host.address !== undefined && isInBlock(host.address, hosts.block);
  if (host.address !== undefined) return false;
  return host.text === hosts.name ? hosts.apex : hosts.below && host.text.endsWith(`.${hosts.name}`);
}

/** Whether a pattern names this host and port under any of its spellings: what a rule that forbids means. */
export function matchesAnySpelling(pattern: Pattern, host: Host, port: number): boolean {
  const address = host.address ?? host.spelled;
  const addresses = address === undefined ? [] : [address, ...getEmbedded(address)];
  const spellings = addresses.map((each): Host => ({ text: renderAddress(each), address: each }));
  return [host, ...spellings].some((each) => matches(pattern, each, port));
}

/** How much a pattern names: of two that match, the larger one is the more specific one. */
export function getSpecificity({ hosts, ports }: Pattern): number {
  const portPart = ports === undefined ? 0 : 1;
  if (hosts.kind === "any") return portPart;
  if (hosts.kind === "block") return 2 + hosts.block.length * 2 + portPart;
  return 2 + (hosts.name.length + (hosts.below ? 0 : MAX_PATTERN_LENGTH)) * 2 + portPart;
}

const MAX_PATTERN_LENGTH = 300;
const MAX_SHOWN = 100;
const PORTS = "(1 to 65535) or range of ports `first-last` after its last colon";

function splitPorts(text: string): { host: string; ports?: string } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  if (bracketed !== null) return { host: bracketed[1]!, ...defined({ ports: bracketed[2] }) };
  const colon = text.indexOf(":");
  // Two colons: IPv6, which has a port only in brackets.
  if (colon < 0 || colon !== text.lastIndexOf(":")) return { host: text };
  return { host: text.slice(0, colon), ports: text.slice(colon + 1) };
}

function parsePorts(text: string): { first: number; last: number } | undefined {
  const found = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
  if (found === null) return undefined;
  const first = Number(found[1]);
  const last = found[2] === undefined ? first : Number(found[2]);
  return first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined;
}

function parseHosts(text: string, fail: (problem: string) => never): Pattern["hosts"] {
  if (text === "*") return { kind: "any" };
  const address = parseAddress(text);
  if (address !== undefined) return { kind: "block", block: { address, length: address.length * 8 } };
  const block = parseBlock(text);
  if (block !== undefined) return { kind: "block", block };
  if (text.includes("/")) fail("is neither a host nor a block of addresses; paths and URLs are not patterns");
  if (parseLooseIpv4(text) !== undefined)
    fail("is an unusual spelling of an address: write it as four decimal numbers");
  const prefix = /^\*{1,2}\./.exec(text)?.[0] ?? "";
  const written = text.slice(prefix.length);
  if (/[*?]/.test(written)) fail("has a wildcard in another place than a leading `*.` or `**.`, or alone");
  if (written.includes("..")) fail("has an empty label");
  if (/[\s%@:{}[\]\\#]/.test(written)) fail("has a character that no host name has");
  const name = domainToASCII(written.replace(/\.$/, ""));
  if (!isName(name)) fail("is not a host name, an address or a block of addresses");
  return { kind: "name", name, apex: prefix !== "*.", below: prefix !== "" };
}
