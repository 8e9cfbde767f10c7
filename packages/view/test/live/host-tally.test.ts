import type { HostActivity } from "@codex/executor-protocol";
import { expect, it } from "vitest";
import { MAX_SHOWN_HOSTS } from "../../src/limits.js";
import { HostTally } from "../../src/live/host-tally.js";

const activity = (more: Partial<HostActivity> = {}): HostActivity => ({
  ...{ host: "a.example", port: 443, protocol: "connect", decision: "allow", by: "policy" },
  ...{ count: 1, ended: 1, sent: 10, received: 20 },
  ...more,
});

it("connections to one host are counted together, allowed and denied ones apart", () => {
  const tally = new HostTally();
  tally.add([activity(), activity({ protocol: "direct" }), activity({ decision: "deny", reason: "sni_mismatch" })], 0);
  tally.add([activity({ host: "::1", decision: "deny", rule: { pattern: "::1" } }), activity()], 0);
  expect(tally.hosts).toMatchObject([
    { name: "a.example:443", isAllowed: true, why: "", count: 3, sent: 30, received: 60 },
    { name: "a.example:443", isAllowed: false, why: "sni mismatch", count: 1 },
    { name: "[::1]:443", isAllowed: false, why: "::1", count: 1 },
  ]);
});

it("no more hosts are shown than fit, and the others are counted", () => {
  const tally = new HostTally();
  tally.add(
    Array.from({ length: MAX_SHOWN_HOSTS + 2 }, (_, index) => activity({ host: `h${index}.example`, count: 2 })),
    5,
  );
  expect([tally.hosts.length, tally.omitted]).toEqual([MAX_SHOWN_HOSTS, 9]);
});
