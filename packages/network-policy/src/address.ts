/** An IP address as its 4 or 16 bytes. */
export type Address = readonly number[];

/** A block of addresses that share their first `length` bits. */
export interface AddressBlock {
  address: Address;
  length: number;
}

/** Parses `a.b.c.d` and IPv6 without brackets or zone; undefined for everything else, odd spellings of IPv4 included. */
export function parseAddress(text: string): Address | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/**
 * Parses IPv4 as `inet_aton` does: one to four parts, decimal, octal or hexadecimal, the last of which fills the rest.
 * C libraries take such text for an address, so it never reaches a name server.
 */
export function parseLooseIpv4(text: string): Address | undefined {
  const parts = text.split(".");
  if (parts.length > 4) return undefined;
  const numbers = parts.map(parseNumber);
  const last = numbers.at(-1);
  const first = numbers.slice(0, -1);
  if (last === undefined || !first.every((each) => each !== undefined && each <= 255)) return undefined;
  const width = 5 - parts.length;
  if (last >= 256 ** width) return undefined;
  const rest = Array.from({ length: width }, (_, index) => Math.floor(last / 256 ** (width - 1 - index)) % 256);
  return [...(first as number[]), ...rest];
}

/** Parses `ADDRESS/LENGTH`; undefined if it is none, or if bits after the first `LENGTH` are set. */
export function parseBlock(text: string): AddressBlock | undefined {
  const slash = text.indexOf("/");
  const address = parseAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (slash < 0 || address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const length = Number(digits);
  if (length > address.length * 8) return undefined;
  const isTrimmed = address.every((byte, index) => (byte & (255 >> clamp(length - index * 8))) === 0);
  return isTrimmed ? { address, length } : undefined;
}

export function isInBlock(address: Address, block: AddressBlock): boolean {
  if (address.length !== block.address.length) return false;
  return address.every((byte, index) => (byte ^ block.address[index]!) >> (8 - clamp(block.length - index * 8)) === 0);
}

/** The usual text of an address: IPv6 in lower case, its longest run of zeros as `::`, IPv4 within `::ffff:0:0/96` with dots. */
export function renderAddress(address: Address): string {
  if (address.length === 4) return address.join(".");
  if (isInBlock(address, MAPPED)) return `::ffff:${address.slice(12).join(".")}`;
  const groups = Array.from({ length: 8 }, (_, index) => (address[index * 2]! << 8) | address[index * 2 + 1]!);
  const run = findZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (run.length < 2) return hex.join(":");
  return `${hex.slice(0, run.start).join(":")}::${hex.slice(run.start + run.length).join(":")}`;
}

const MAPPED: AddressBlock = { address: [...new Array<number>(10).fill(0), 255, 255, 0, 0, 0, 0], length: 96 };

function parseIpv4(text: string): Address | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): Address | undefined {
  if (text.length > "0000:0000:0000:0000:0000:ffff:255.255.255.255".length) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail.length;
  return missing >= 2 ? [...head, ...new Array<number>(missing).fill(0), ...tail] : undefined;
}

/** The bytes of groups separated by colons; only the end of an address may be written as IPv4. */
function parseGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const ipv4 = isEnd && index === groups.length - 1 && group.includes(".") ? parseIpv4(group) : undefined;
    if (ipv4 === undefined && !/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(...(ipv4 ?? [value >> 8, value & 255]));
  }
  return bytes.length <= 16 ? bytes : undefined;
}

function parseNumber(text: string): number | undefined {
  if (/^0[xX][0-9a-fA-F]{0,8}$/.test(text)) return text.length === 2 ? 0 : Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]{1,11}$/.test(text)) return Number.parseInt(text, 8);
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

function findZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}

function clamp(bits: number): number {
  return Math.min(8, Math.max(0, bits));
}
