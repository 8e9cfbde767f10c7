import { isIP } from "node:net";
import { describe, expect, it } from "vitest";
import { parseLooseIpv4 } from "../src/address.js";
import { parseAddress, parseHost, renderAddress } from "../src/index.js";
import { isLocalAddress } from "../src/local-address.js";

describe("addresses are read as Node reads them, and rendered in one form", () => {
  it.each([
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["0:0:0:1:0:0:0:0", "0:0:0:1::"],
    ["2001:DB8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["::ffff:7f00:1", "::ffff:127.0.0.1"],
    ["::127.0.0.1", "::7f00:1"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
    ["255.255.255.255", "255.255.255.255"],
  ])("%s", (text, rendered) => {
    expect(isIP(text)).not.toBe(0);
    expect(renderAddress(parseAddress(text)!)).toBe(rendered);
  });

  it.each([
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "::1.2.3",
    "1.2.3.4::",
    "::g",
    "::12345",
    "fe80::1%eth0",
    "01.2.3.4",
    "1.2.3.256",
    "1.2.3",
    "",
  ])("%j is none", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("agrees with Node on texts put together at random from their parts", () => {
    let seed = 7;
    const next = (limit: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * limit);
    };
    const parts = [":", "::", "0", "1", "ffff", "10", "255", "256", ".", "abc", "1.2.3.4"];
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 1 + next(14) }, () => parts[next(parts.length)]).join("");
      expect(parseAddress(text) !== undefined, text).toBe(isIP(text) !== 0);
    }
  });
});

describe("IPv4 as inet_aton reads it", () => {
  it.each([
    ["127.1", [127, 0, 0, 1]],
    ["0x7f.1", [127, 0, 0, 1]],
    ["2130706433", [127, 0, 0, 1]],
    ["017700000001", [127, 0, 0, 1]],
    ["10.1.515", [10, 1, 2, 3]],
    ["0x", [0, 0, 0, 0]],
  ] as const)("%s", (text, bytes) => {
    expect(parseLooseIpv4(text)).toEqual(bytes);
  });

  it.each(["4294967296", "256.1", "1.2.3.256", "1.2.3.4.5", "08", "1..2", "", "0xg"])("%j is none", (text) => {
    expect(parseLooseIpv4(text)).toBeUndefined();
  });
});

describe("an address that is not public is local, also within IPv6", () => {
  it.each(
    "127.0.0.1 10.0.0.1 172.31.0.1 192.168.1.1 169.254.1.1 100.127.0.1 0.1.2.3 198.19.0.1 192.0.2.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:10.0.0.1 ::10.0.0.1 fe80::1 fec0::1 fdff::1 ff02::1 2001:db8::1 2002:a00:1:: 64:ff9b::7f00:1 64:ff9b:1::1".split(
      " ",
    ),
  )("%s", (text) => {
    expect(isLocalAddress(parseAddress(text)!)).toBe(true);
  });

  it.each(
    "1.1.1.1 172.32.0.1 100.128.0.1 198.20.0.1 223.255.255.255 ::ffff:1.1.1.1 64:ff9b::101:101 2606:2800:220:1::1 2002:101:101::1".split(
      " ",
    ),
  )("%s is public", (text) => {
    expect(isLocalAddress(parseAddress(text)!)).toBe(false);
  });
});

describe("a host that no resolver should see is refused", () => {
  it.each([
    "a..b",
    "a b",
    "a\0b",
    "a%00",
    "a@b",
    "a:b",
    "a/b",
    "*.a",
    "bücher.example",
    "-a",
    "a-",
    ".a",
    "",
    ".",
    "a.1",
    "1.2.3.4.5",
    "a.0x1",
    "a".repeat(64),
    `${"a.".repeat(127)}a`,
  ])("%j", (text) => {
    expect(parseHost(text)).toBeUndefined();
  });
});
