import type { HostActivity } from "@codex/executor-protocol";
import { createRegistry, renderMetrics } from "@codex/telemetry";
import { expect, it } from "vitest";
import { createCallTelemetry } from "../../src/calls/call-telemetry.js";
import { HostReports } from "../../src/calls/host-reports.js";

const activity = (more: Partial<HostActivity> = {}): HostActivity => ({
  ...{ host: "a.example", port: 443, protocol: "connect", decision: "allow", by: "policy" },
  ...{ count: 1, ended: 0, sent: 0, received: 0 },
  ...more,
});

function open(limit = 10) {
  const metrics = createRegistry();
  const told: [readonly HostActivity[], number][] = [];
  const reports = new HostReports(limit, createCallTelemetry({ metrics }));
  reports.follow("k", (hosts, omitted) => told.push([hosts, omitted]));
  return { reports, told, metrics };
}

it("what is new since the last report is told and counted, and a repeated report is not", () => {
  const { reports, told, metrics } = open();
  const deny = activity({ host: "b.example", decision: "deny", reason: "denied", count: 4 });
  reports.note({ key: "k", hosts: [activity({ count: 2 }), deny], omitted: 0 });
  reports.note({ key: "k", hosts: [activity({ count: 2 }), deny], omitted: 0 });
  reports.note({ key: "k", hosts: [activity({ count: 3, ended: 2, sent: 10, received: 20 }), deny], omitted: 5 });
  reports.note({ key: "unknown", hosts: [activity()], omitted: 0 });
  expect(told).toEqual([
    [[activity({ count: 2 }), deny], 0],
    [[activity({ count: 1, ended: 2, sent: 10, received: 20 })], 5],
  ]);
  const shown = renderMetrics(metrics);
  expect(shown).toContain('codex_orchestrator_host_decisions_total{decision="allow"} 3');
  expect(shown).toContain('codex_orchestrator_host_decisions_total{decision="deny"} 4');
  expect(shown).toContain('codex_orchestrator_host_bytes_total{direction="received"} 20');
});

it("a report that counts less than an earlier one is left out", () => {
  const { reports, told } = open();
  reports.note({ key: "k", hosts: [activity({ count: 5 })], omitted: 0 });
  reports.note({ key: "k", hosts: [activity({ count: 3 })], omitted: 0 });
  reports.note({ key: "k", hosts: [activity({ count: 6 })], omitted: 0 });
  expect(told.map(([hosts]) => hosts.map(({ count }) => count))).toEqual([[5], [1]]);
});

it("no more commands are followed than the limit", () => {
  const { reports, told } = open(1);
  reports.follow("next", () => {});
  reports.note({ key: "k", hosts: [activity()], omitted: 0 });
  expect(told).toEqual([]);
});
