import { type Address, type AddressBlock, isInBlock, parseBlock } from "./address.js";

/** Whether an address is no host of the public internet, by itself or by the IPv4 address that it embeds. */
export function isLocalAddress(address: Address): boolean {
  return [address, ...getEmbedded(address)].some((each) => LOCAL.some((block) => isInBlock(each, block)));
}

/** Whether an address is this host itself. */
export function isLoopbackAddress(address: Address): boolean {
  return [address, ...getEmbedded(address)].some((each) => LOOPBACK.some((block) => isInBlock(each, block)));
}

/** Whether an address answers with the credentials of a machine in a cloud. */
export function isMetadataAddress(address: Address): boolean {
  return [address, ...getEmbedded(address)].some((each) => METADATA.some((block) => isInBlock(each, block)));
}

/** The IPv4 address that an IPv6 address leads to: mapped, compatible, NAT64, 6to4. */
export function getEmbedded(address: Address): Address[] {
  const found = EMBEDDING.find(([block]) => isInBlock(address, block));
  return found === undefined ? [] : [address.slice(found[1], found[1] + 4)];
}

/** Blocks that hold an IPv4 address, and the byte at which it begins. */
const EMBEDDING: readonly (readonly [AddressBlock, number])[] = [
  [block("::ffff:0.0.0.0/96"), 12],
  [block("::/96"), 12],
  [block("64:ff9b::/96"), 12],
  [block("2002::/16"), 2],
];

const LOOPBACK: readonly AddressBlock[] = [block("127.0.0.0/8"), block("::1/128")];

/** The special-purpose registries of IANA for IPv4 and IPv6, without blocks that are reachable from everywhere. */
const LOCAL: readonly AddressBlock[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "::/127",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "3fff::/20",
  "fc00::/7",
  "fe80::/9",
  "ff00::/8",
].map(block);

/** AWS, Google and Azure; AWS over IPv6; Alibaba; Azure's own service of a machine. */
const METADATA: readonly AddressBlock[] = [
  "169.254.169.254/32",
  "169.254.170.2/32",
  "fd00:ec2::254/128",
  "100.100.100.200/32",
  "168.63.129.16/32",
].map(block);

function block(text: string): AddressBlock {
  const parsed = parseBlock(text);
  if (parsed === undefined) throw new TypeError(`not a block of addresses: ${text}`);
  return parsed;
}
