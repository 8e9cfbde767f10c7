import { describe, expect, it } from "vitest";
import { compileNetworkPolicy, PatternError, parseHost } from "../src/index.js";
import { matches, parsePattern } from "../src/pattern.js";

describe("a pattern names these hosts and no others", () => {
  it.each([
    ["pub.example", ["pub.example:1", "PUB.example.:65535"], ["sub.pub.example:1", "notpub.example:1"]],
    ["*.pub.example", ["a.pub.example:1", "a.b.pub.example:1"], ["pub.example:1", "apub.example:1"]],
    ["**.pub.example", ["pub.example:1", "a.pub.example:1"], ["apub.example:1"]],
    ["*", ["pub.example:1", "10.1.2.3:1", "[::1]:1"], []],
    ["*:443", ["pub.example:443"], ["pub.example:80"]],
    ["pub.example:8000-8002", ["pub.example:8000", "pub.example:8002"], ["pub.example:7999", "pub.example:8003"]],
    ["Bücher.example.", ["xn--bcher-kva.example:1"], ["bcher.example:1"]],
    ["10.0.0.0/8", ["10.255.0.1:1"], ["11.0.0.0:1", "[::ffff:10.0.0.1]:1", "10.example:1"]],
    ["10.0.0.0/9:22", ["10.127.255.255:22"], ["10.128.0.0:22", "10.0.0.1:23"]],
    ["[2606:2800:0220::1]:443", ["[2606:2800:220:0::1]:443"], ["[2606:2800:220::1]:80", "[2606:2800:220::2]:443"]],
    ["fd00::/8", ["[fdff::1]:1"], ["[fc00::1]:1", "253.0.0.1:1"]],
    ["0.0.0.0/0", ["255.255.255.255:1"], ["[::1]:1"]],
  ])("%s", (text, named, others) => {
    const pattern = parsePattern(text);
    const isNamed = (hostAndPort: string) => {
      const [, host, port] = /^(.*):(\d+)$/.exec(hostAndPort)!;
      return matches(pattern, parseHost(host!)!, Number(port));
    };
    expect(named.filter((each) => !isNamed(each))).toEqual([]);
    expect(others.filter(isNamed)).toEqual([]);
  });
});

describe("a pattern that is none is an error that says why", () => {
  it.each([
    ["", "is empty"],
    ["pub.*", "wildcard"],
    ["p?b.example", "wildcard"],
    ["*.*", "wildcard"],
    ["***.example", "wildcard"],
    ["a..b", "empty label"],
    ["pub.example/path", "paths and URLs"],
    ["https://pub.example", "port"],
    ["{pub,other}.example", "character"],
    ["pub .example", "character"],
    ["user@pub.example", "character"],
    ["pub.example:0", "port"],
    ["pub.example:65536", "port"],
    ["pub.example:90-80", "port"],
    ["pub.example:", "port"],
    ["10.0.0.1/8", "neither a host nor a block"],
    ["10.0.0.0/33", "neither a host nor a block"],
    ["127.1", "unusual spelling"],
    ["0x7f000001", "unusual spelling"],
    ["[::1", "character"],
    ["[pub.example]:443x", "port"],
    ["::1::", "character"],
    ["-a.example", "not a host name"],
    [`${"a".repeat(64)}.example`, "not a host name"],
    ["host.internal", "PORT"],
    ["*.host.internal:80", "PORT"],
    ["a".repeat(301), "301 characters"],
  ])("%j", (text, problem) => {
    expect(() => parsePattern(text)).toThrow(PatternError);
    expect(() => parsePattern(text)).toThrow(problem);
  });

  it("names the file and line of its rule", () => {
    const policy = { rules: [{ pattern: "a..b", decision: "allow", source: "config.toml:7" }] as const };
    expect(() => compileNetworkPolicy({ ...policy, mode: "full", allowLocalBinding: false })).toThrow(
      "config.toml:7: ",
    );
  });

  it("forbidding every host is one", () => {
    const policy = {
      rules: [{ pattern: "*", decision: "deny" }] as const,
      mode: "full",
      allowLocalBinding: false,
    } as const;
    expect(() => compileNetworkPolicy(policy)).toThrow("forbids every host");
  });
});
