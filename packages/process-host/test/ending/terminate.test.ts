import { describe, expect, it } from "vitest";
import { isAlive, STDIO, untilGone, untilOutput, useBackend } from "../support.js";

describe.each(STDIO)("terminate on $kind", (stdio) => {
  const host = useBackend();

  it("asks first, and says what was there and that it is gone", async () => {
    const process = await host.run(["sh", "-c", "sleep 300 & echo ready; wait"], { stdio });
    await untilOutput(process, "ready");
    const receipt = await process.terminate();
    expect(receipt).toMatchObject({ running: true, gone: true });
    expect(receipt.signals).not.toContain("SIGKILL");
    // A process that was just forked has the name of its parent.
    const names = receipt.members?.map((member) => member.name);
    expect(names).toEqual([expect.stringMatching(/^(sh|sleep)$/), expect.stringMatching(/^(sh|sleep)$/)]);
    expect(receipt.members?.map((member) => member.pid)).toContain(process.pid);
    expect(receipt.outcome).toMatchObject({ kind: "signaled", by: "terminate" });
    for (const member of receipt.members ?? []) expect(isAlive(member.pid)).toBe(false);
  });

  it("lets a program clean up, and tells its own exit code then", async () => {
    const script = "trap 'echo bye; exit 7' TERM HUP; echo ready; while :; do sleep 0.01; done";
    const process = await host.run(["bash", "-c", script], { stdio });
    await untilOutput(process, "ready");
    const receipt = await process.terminate();
    expect(receipt.outcome).toEqual({ kind: "exited", code: 7 });
    await untilOutput(process, "bye");
  });

  it("kills what does not listen after the grace", async () => {
    const process = await host.run(["sh", "-c", "trap '' TERM HUP; echo ready; sleep 300"], { stdio });
    await untilOutput(process, "ready");
    const receipt = await process.terminate({ graceMs: 30, by: "timeout" });
    expect(receipt.signals.at(-1)).toBe("SIGKILL");
    expect(receipt).toMatchObject({ gone: true, outcome: { kind: "signaled", signal: "SIGKILL", by: "timeout" } });
  });

  it("reaches what the leader left behind, and changes nothing about how the leader ended", async () => {
    const process = await host.run(["sh", "-c", "trap '' HUP; sleep 300 & echo $!; exit 4"], { stdio });
    await process.exited;
    const left = Number(await untilOutput(process, "\n"));
    const receipt = await process.terminate({ graceMs: 500 });
    expect(receipt).toMatchObject({ running: false, gone: true, outcome: { kind: "exited", code: 4 } });
    expect(await untilGone(left)).toBe(true);
  });

  it("can be asked twice, and after the end", async () => {
    const process = await host.run(["sleep", "300"], { stdio });
    const [first, second] = await Promise.all([
      process.terminate({ by: "prune" }),
      process.terminate({ by: "timeout" }),
    ]);
    expect(first.outcome).toMatchObject({ kind: "signaled", by: "prune" });
    expect(second.outcome).toEqual(first.outcome);
    expect(await process.terminate()).toMatchObject({ running: false, signals: [], gone: true, members: [] });
    expect(await process.signal("SIGINT")).toBe(false);
  });

  it("is what closing the backend does to every process", async () => {
    const running = await Promise.all([1, 2, 3].map(() => host.run(["sleep", "300"], { stdio })));
    await host.backend.close();
    for (const process of running) {
      expect(process.outcome).toMatchObject({ kind: "signaled", by: "shutdown" });
      expect(isAlive(process.pid!)).toBe(false);
    }
  });
});
