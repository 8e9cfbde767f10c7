import { describe, expect, it } from "vitest";
import {
  compileNetworkPolicy,
  evaluateAddresses,
  evaluateTarget,
  type NetworkRule,
  parseAddress,
  parseHost,
  type Target,
} from "../src/index.js";
import cases from "./decisions.json" with { type: "json" };

/** What the names of the recorded cases resolve to; others do not resolve. */
const WORLD: Readonly<Record<string, readonly string[]>> = {
  "pub.example": ["93.184.216.34"],
  "wild.example": ["93.184.216.34"],
  "xn--bcher-kva.example": ["93.184.216.34"],
  "sub.pub.example": ["93.184.216.34"],
  "priv.example": ["10.1.2.3"],
  "loop.example": ["127.0.0.1"],
  "meta.example": ["169.254.169.254"],
  "cgnat.example": ["100.64.1.1"],
  "zero.example": ["0.0.0.0"],
  "mixed.example": ["93.184.216.34", "10.1.2.3"],
  "v6only.example": ["2606:2800:220:1::1"],
  "v6ula.example": ["fd00::5"],
  localhost: ["127.0.0.1", "::1"],
  "host.internal": ["127.0.0.1"],
};
const OWN = ["198.51.100.7", "2606:4700::7"].map((text) => parseAddress(text)!);

interface Policy {
  domains: Record<string, string>;
  mode?: "full" | "limited";
  allowLocalBinding?: boolean;
}

interface Request {
  kind: string;
  host: string;
  port: number;
  method?: string;
}

describe("decisions of recorded requests", () => {
  it.each(cases.map((each) => [each.id, each] as const))("%s", (_, { policy, request, want }) => {
    expect(answer(policy as Policy, request)).toMatchObject(want);
  });
});

describe("a local address is opened only by a rule that names it", () => {
  it.each([
    ["by a name that resolves to it", { "priv.example": "allow" }, "priv.example", "not_allowed_local"],
    ["by name and literal", { "priv.example": "allow", "10.1.2.3": "allow" }, "priv.example", "allow"],
    ["by name and block", { "priv.example": "allow", "10.0.0.0/8": "allow" }, "priv.example", "allow"],
    ["by a block with another port", { "*": "allow", "10.0.0.0/8:443": "allow" }, "priv.example", "not_allowed_local"],
    ["by a block alone, through a name", { "10.0.0.0/8": "allow" }, "priv.example", "not_allowed"],
    ["by a block alone", { "10.0.0.0/8": "allow" }, "10.1.2.3", "allow"],
    ["by a mapped form of an allowed address", { "10.1.2.3": "allow" }, "::ffff:10.1.2.3", "not_allowed_local"],
    [
      "credentials of a cloud by their block",
      { "*": "allow", "169.254.0.0/16": "allow" },
      "meta.example",
      "not_allowed_local",
    ],
    ["credentials of a cloud by their address", { "*": "allow", "169.254.169.254": "allow" }, "meta.example", "allow"],
    ["the host's own public address", { "*": "allow" }, "2606:4700::7", "not_allowed_local"],
    ["localhost by a wildcard", { "*": "allow" }, "localhost", "not_allowed_local"],
    ["localhost by its name", { localhost: "allow" }, "localhost", "allow"],
    ["the host's loopback by name and port", { "host.internal:80": "allow" }, "host.internal", "allow"],
    ["the host's loopback by another port", { "host.internal:81": "allow" }, "host.internal", "not_allowed_local"],
    [
      "the host's loopback by a wildcard",
      { "*": "allow", "**.internal": "allow" },
      "host.internal",
      "not_allowed_local",
    ],
    ["NAT64 of a private address", { "*": "allow" }, "64:ff9b::a01:203", "not_allowed_local"],
    ["NAT64 of a public address", { "*": "allow" }, "64:ff9b::5db8:d822", "allow"],
    ["6to4 of a private address", { "*": "allow" }, "2002:a01:203::1", "not_allowed_local"],
  ] as const)("%s", (_, domains, host, want) => {
    expect(outcome({ domains }, host)).toBe(want);
  });

  it("allowLocalBinding opens all but the credentials of a cloud", () => {
    const policy = { domains: { "*": "allow" }, allowLocalBinding: true };
    expect(["priv.example", "localhost", "meta.example"].map((host) => outcome(policy, host))).toEqual([
      "allow",
      "allow",
      "not_allowed_local",
    ]);
  });
});

describe("a rule that forbids means every spelling", () => {
  it.each(["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "0xa.1.515", "167838211", "priv.example"])(
    "%s",
    (host) => {
      const domains = { "*": "allow", "10.1.2.3": "deny" };
      expect(outcome({ domains, allowLocalBinding: true }, host)).toBe("denied");
    },
  );
});

it("a question is wanted where a rule asks, although another allows; a rule that forbids still wins", () => {
  const policy = compileNetworkPolicy({
    rules: [
      { pattern: "**.pub.example", decision: "allow" },
      { pattern: "sub.pub.example", decision: "ask", source: "rules:3" },
      { pattern: "*.sub.pub.example", decision: "deny" },
    ],
    mode: "full",
    allowLocalBinding: false,
  });
  const decide = (host: string) => evaluateTarget(policy, toTarget({ kind: "connect", host, port: 443 })!);
  expect(decide("pub.example")).toMatchObject({ decision: "allow", rule: { pattern: "**.pub.example" } });
  expect(decide("sub.pub.example")).toMatchObject({ decision: "undecided", rule: { source: "rules:3" } });
  expect(decide("x.sub.pub.example")).toMatchObject({ decision: "deny", reason: "denied" });
});

it("the most specific rule is named", () => {
  const rules = ["*", "*.example", "**.pub.example", "sub.pub.example", "sub.pub.example:443"].map(
    (pattern): NetworkRule => ({ pattern, decision: "allow" }),
  );
  const target = toTarget({ kind: "connect", host: "sub.pub.example", port: 443 })!;
  for (let count = rules.length; count > 0; count--) {
    const policy = compileNetworkPolicy({ rules: rules.slice(0, count), mode: "full", allowLocalBinding: false });
    expect(evaluateTarget(policy, target)).toEqual({ decision: "allow", rule: rules[count - 1] });
  }
});

it("the mode `limited` never makes a question of what it forbids", () => {
  const policy = compileNetworkPolicy({ rules: [], mode: "limited", allowLocalBinding: false });
  const request = { kind: "absolute", host: "pub.example", port: 80, method: "POST" };
  expect(evaluateTarget(policy, toTarget(request)!)).toEqual({ decision: "deny", reason: "not_allowed" });
});

/** What a proxy does with a request, in the words of the recorded cases. */
function answer(policy: Policy, request: Request): object {
  const target = toTarget(request);
  if (target === undefined) return { decision: "refuse" };
  const host = `${target.host.text}:${target.port}`;
  const compiled = compile(policy);
  const byName = evaluateTarget(compiled, target);
  if (byName.decision !== "allow") return { decision: "deny", reason: byName.reason, host };
  const addresses = resolve(target);
  if (addresses.length === 0) return { decision: "fail", reason: "unresolvable" };
  const byAddress = evaluateAddresses(compiled, target, addresses, OWN);
  return byAddress.decision === "allow"
    ? { decision: "allow", host }
    : { decision: "deny", reason: byAddress.reason, host };
}

function outcome(policy: Policy, host: string): string {
  const { decision, reason } = answer(policy, { kind: "connect", host, port: 80 }) as {
    decision: string;
    reason?: string;
  };
  return reason ?? decision;
}

function compile({ domains, mode = "full", allowLocalBinding = false }: Policy) {
  const rules = Object.entries(domains)
    .filter(([, decision]) => decision !== "none")
    .map(([pattern, decision]): NetworkRule => ({ pattern, decision: decision === "allow" ? "allow" : "deny" }));
  return compileNetworkPolicy({ rules, mode, allowLocalBinding });
}

function toTarget({ kind, host, port, method = "GET" }: Request): Target | undefined {
  const parsed = parseHost(host);
  if (parsed === undefined) return undefined;
  const via: Target["via"] =
    kind === "absolute" ? { protocol: "http", method } : { protocol: kind === "socks5" ? "socks5" : "connect" };
  return { host: parsed, port, via };
}

function resolve({ host }: Target) {
  const fixed = host.address ?? host.spelled;
  return fixed === undefined ? (WORLD[host.text] ?? []).map((text) => parseAddress(text)!) : [fixed];
}
