import { describe, expect, it } from "vitest";
import { useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

const openHost = useScriptedHosts();

describe("what a sandbox refused", () => {
  it("is reported with the response that reports the end, and not before", async () => {
    const { client, backend } = openHost();
    const answer = client.exec({ command: ["x"] });
    const process = await backend.started(0);
    process.denial = { certain: true, reason: "the sandbox refused `/etc/x`" };
    process.end(1);
    const { text, result } = await answer;
    expect(result).toMatchObject({
      sandboxDenied: true,
      sandboxDenial: { certain: true, reason: "the sandbox refused `/etc/x`" },
    });
    expect(text).toContain("Note: the sandbox refused `/etc/x`\nOutput:");
  });

  it("is reported by a later poll, and as a guess where it is one", async () => {
    const host = openHost();
    const { id, process } = await startSession(host);
    process.denial = { certain: false, reason: "the output says `Read-only file system`" };
    const running = host.client.write({ processId: id, yieldTimeMs: 0 });
    await host.clock.untilWaiting(1);
    host.clock.advance(0);
    expect((await running).result).toMatchObject({ sandboxDenied: false });
    expect((await running).result).not.toHaveProperty("sandboxDenial");
    const last = host.client.write({ processId: id });
    process.end(1);
    expect((await last).result).toMatchObject({ sandboxDenied: false, sandboxDenial: { certain: false } });
    expect((await last).text).toMatch(/Note: going by the output alone: the output says/);
  });

  it("is not guessed from what the caller of a refused program prints", async () => {
    const { client, backend } = openHost();
    const answer = client.exec({ command: ["x"] });
    const process = await backend.started(0);
    process.denial = { certain: false, reason: "the output says `Operation not permitted`" };
    process.gate = { kind: "held", reports: [REFUSED], omitted: 0 };
    process.end(126);
    const { text, result } = await answer;
    expect(result).not.toHaveProperty("sandboxDenial");
    expect(text).not.toContain("going by the output");
    expect(text).toContain("Refused: touch made");
  });
});

describe("a refused program", () => {
  it("is told once", async () => {
    const host = openHost();
    const { id, process } = await startSession(host);
    process.gate = { kind: "held", reports: [REFUSED], omitted: 0 };
    process.print("one\n");
    const poll = async (more = {}) => (await host.client.write({ processId: id, yieldTimeMs: 0, ...more })).result;
    const first = poll();
    await host.clock.untilWaiting(1);
    host.clock.advance(0);
    expect((await first).programs).toEqual([REFUSED]);
    process.gate = { kind: "held", reports: [REFUSED, { ...REFUSED, argv: ["touch", "other"] }], omitted: 0 };
    process.end(0);
    expect((await poll()).programs).toEqual([{ ...REFUSED, argv: ["touch", "other"] }]);
  });
});

const REFUSED = {
  program: "/usr/bin/touch",
  argv: ["touch", "made"],
  decision: "refused",
  reason: "rule",
  rule: "no touch",
  times: 1,
} as const;
