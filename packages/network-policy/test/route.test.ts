import { describe, expect, it } from "vitest";
import { compileNetworkPolicy, compileRoute, evaluateTarget, isPathOfRoute, type NetworkRule } from "../src/index.js";

const compile = (route: Partial<Parameters<typeof compileRoute>[0]> = {}, rules: readonly NetworkRule[] = []) =>
  compileRoute({ name: "api", url: "https://api.example/v1/", ...route }, (rule) =>
    compileNetworkPolicy({ rules: [...rules, rule], mode: "limited", allowLocalBinding: false }),
  );

describe("a route", () => {
  it("leads to one host and port, which it allows unless a rule forbids it", () => {
    const { host, port, authority, prefix, policy } = compile();
    expect([host.text, port, authority, prefix]).toEqual(["api.example", 443, "api.example", "/v1"]);
    const decide = (text: string, at: number, by = policy) =>
      evaluateTarget(by, { host: { text }, port: at, via: { protocol: "connect" } }).decision;
    expect([decide("api.example", 443), decide("api.example", 80), decide("b.example", 443)]).toEqual([
      "allow",
      "undecided",
      "undecided",
    ]);
    const forbidden = compile({}, [{ pattern: "*.example", decision: "deny" }]);
    expect(decide("api.example", 443, forbidden.policy)).toBe("deny");
    expect(compile({ url: "https://host.internal:8443" })).toMatchObject({
      port: 8443,
      authority: "host.internal:8443",
      prefix: "",
    });
  });

  it.each([
    [{ name: "" }, /name/],
    [{ name: "A" }, /name/],
    [{ name: "a.b" }, /name/],
    [{ name: "x".repeat(41) }, /name/],
    [{ url: "api.example" }, /is no URL/],
    [{ url: "http://api.example/" }, /does not begin with "https:/],
    [{ url: "https://me:secret@api.example/" }, /has a user, a query or a fragment$/],
    [{ url: "https://api.example/?token=secret" }, /has a user, a query or a fragment$/],
    [{ paths: ["org"] }, /path "org"/],
    [{ paths: ["/org/../"] }, /path/],
  ])("is none: %j", (route, problem) => {
    expect(() => compile(route)).toThrow(problem);
    expect(() => compile(route)).not.toThrow(/secret/);
  });

  it("with paths leads to those and what is below them, and to none that can be read in another way", () => {
    const route = { paths: ["/org/", "/api/v3/user"], prefix: "" };
    for (const path of [
      "/org/",
      "/org/repo.git/info/refs?service=git-upload-pack",
      "/api/v3/user",
      "/api/v3/user/repos",
    ]) {
      expect(isPathOfRoute(route, path), path).toBe(true);
    }
    for (const path of [
      ...["/", "/orgs/x", "/api/v3/users", "/other/", "/org/../other/", "/org/./x", "/org/..", "//org/", "/org//x"],
      ...[
        "/org/%2e%2e/x",
        "/org/..%2fx",
        "/org\\\\x",
        "/org/%5cx",
        "/org/%252e%252e/x",
        "/org/..;/x",
        "/org/\t",
        "/?/org/",
      ],
    ]) {
      expect(isPathOfRoute(route, path), path).toBe(false);
    }
    const all = { paths: undefined, prefix: "" };
    expect(isPathOfRoute(all, "/anything/../x")).toBe(true);
    // The path of its URL is not left either.
    expect(isPathOfRoute({ ...all, prefix: "/v1" }, "/../v2/x")).toBe(false);
    expect(isPathOfRoute({ ...all, prefix: "/v1" }, "/x?a=/../")).toBe(true);
  });
});
