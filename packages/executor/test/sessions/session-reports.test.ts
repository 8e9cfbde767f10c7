import { FakeClock } from "@codex/clock/testing";
import type { HostDecision, HostEnd } from "@codex/exec-backend";
import { expect, it } from "vitest";
import { HOST_REPORT_MS, MAX_REPORTED_HOSTS } from "../../src/limits.js";
import { SessionReports } from "../../src/sessions/session-reports.js";

function open() {
  const clock = new FakeClock();
  const sent: Parameters<ConstructorParameters<typeof SessionReports>[1]>[0][] = [];
  const reports = new SessionReports("k", (message) => sent.push(message), clock);
  return { clock, sent, reports };
}

const decided = (more: Partial<HostDecision> = {}): HostDecision => ({
  ...{ host: "a.example", port: 443, protocol: "connect", decision: "allow", source: "policy", count: 1 },
  ...more,
});
const ended = (more: Partial<HostEnd> = {}): HostEnd => ({
  ...{ host: "a.example", port: 443, protocol: "connect", sent: 10, received: 20, durationMs: 1 },
  ...more,
});

it("connections within a second are one report, which counts from the start of the session", () => {
  const { clock, sent, reports } = open();
  for (let again = 0; again < 3; again += 1) reports.onDecision(decided());
  reports.onEnd(ended());
  reports.onDecision(decided({ host: "b.example", decision: "deny", reason: "not_allowed", count: 2 }));
  expect(sent).toEqual([]);
  clock.advance(HOST_REPORT_MS);
  const first = { host: "a.example", decision: "allow", by: "policy", count: 3, ended: 1, sent: 10, received: 20 };
  expect(sent).toMatchObject([
    { key: "k", hosts: [first, { host: "b.example", reason: "not_allowed", count: 2, ended: 0 }], omitted: 0 },
  ]);
  reports.onEnd(ended());
  reports.flush();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ hosts: [{ ...first, ended: 2, sent: 20, received: 40 }] });
  reports.flush();
  clock.advance(HOST_REPORT_MS);
  expect([sent.length, clock.pending]).toEqual([2, 0]);
  reports.repeat();
  expect(sent[2]!.hosts.map(({ host }) => host)).toEqual(["a.example", "b.example"]);
});

it("an end counts for the latest decision that allowed its connection", () => {
  const { sent, reports } = open();
  reports.onDecision(decided({ source: "asked" }));
  reports.onDecision(decided({ source: "remembered" }));
  reports.onDecision(decided({ decision: "deny", reason: "denied" }));
  reports.onEnd(ended());
  reports.onEnd(ended({ host: "never.example" }));
  reports.flush();
  expect(sent[0]!.hosts.map(({ by, ended: count }) => [by, count])).toEqual([
    ["asked", 0],
    ["remembered", 1],
    ["policy", 0],
  ]);
});

it("no more kinds of connections are told apart than the limit, and the others are counted", () => {
  const { sent, reports } = open();
  const tooMany = MAX_REPORTED_HOSTS + 5;
  for (let index = 0; index < tooMany; index += 1) reports.onDecision(decided({ host: `h${index}.example`, count: 2 }));
  reports.flush();
  expect([sent[0]!.hosts.length, sent[0]!.omitted]).toEqual([MAX_REPORTED_HOSTS, 10]);
});
