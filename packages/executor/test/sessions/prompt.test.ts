import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import { type ScriptedHost, useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

const PROMPT = { command: ["scripted"], tty: true, until: "prompt" as const, yieldTimeMs: 300_000 };

/** Time goes on in small steps, so that what follows from each can happen. */
async function pass({ clock }: ScriptedHost, ms: number, step = 10): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(step);
    await settle();
    await settle();
  }
}

describe("a wait for a prompt", () => {
  const open = useScriptedHosts();
  const start = async (host: ScriptedHost) => {
    const answer = host.client.exec(PROMPT);
    const process = await host.backend.started(0);
    await host.clock.untilWaiting(2);
    return { answer, process };
  };

  it("ends when the program is seen to wait for input", async () => {
    const host = open();
    const { answer, process } = await start(host);
    process.inputWait = "busy";
    await pass(host, 1_000);
    process.print("$ ");
    process.inputWait = "waits";
    await pass(host, 40);
    const { result, output, text } = await answer;
    expect([output, result.waitEnded, result.processId]).toEqual(["$ ", "prompt", 1000]);
    expect(text).toContain("\nNote: the program seems to wait for input\nOutput:\n");
  });

  it("goes on while there is output, and has one timer for it", async () => {
    const host = open();
    const { answer, process } = await start(host);
    process.inputWait = "waits";
    for (let round = 0; round < 20; round += 1) {
      process.print("more ");
      await pass(host, 10);
      expect(host.clock.waiting).toBe(2);
    }
    expect(process.looks).toBe(0);
    await pass(host, 40);
    expect((await answer).result.waitEnded).toBe("prompt");
  });

  it("looks ever more rarely at a program that stays silent", async () => {
    const host = open();
    const { answer, process } = await start(host);
    process.inputWait = "busy";
    await pass(host, 300_000, 500);
    expect((await answer).result.waitEnded).toBe("window");
    expect(process.looks).toBeLessThan(25);
  });

  it("takes longer where input is one of several things that are waited for", async () => {
    const host = open();
    const { answer, process } = await start(host);
    process.inputWait = "listens";
    await pass(host, 290);
    expect(host.clock.waiting).toBe(2);
    await pass(host, 20);
    expect((await answer).result.waitEnded).toBe("prompt");
  });

  it("says so where it cannot be seen", async () => {
    const host = open();
    const { answer } = await start(host);
    await pass(host, 990);
    expect(host.clock.waiting).toBe(2);
    await pass(host, 20);
    const { result } = await answer;
    expect(result).toMatchObject({
      waitEnded: "quiet",
      notices: [
        "there was no output for 1000 ms; whether the program waits for input cannot be determined on this host",
      ],
    });
  });

  it("does not end while the program has not read what it was given", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.inputWait = "waits";
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "x", until: "prompt" });
    await host.clock.untilWaiting(2);
    await pass(host, 500);
    expect(process.looks).toBe(0);
    process.takeWrites();
    await pass(host, 500);
    expect((await answer).result.waitEnded).toBe("prompt");
  });

  it("ends with the process", async () => {
    const host = open();
    const { answer, process } = await start(host);
    process.inputWait = "busy";
    await pass(host, 100);
    process.end(0);
    expect((await answer).result).toMatchObject({ waitEnded: "exit", exitCode: 0 });
  });
});

describe("what ended a wait", () => {
  const open = useScriptedHosts();

  it("is output, also for the first call", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec({ ...PROMPT, until: "output" });
    const process = await backend.started(0);
    await clock.untilWaiting();
    process.print("x");
    expect((await answer).result.waitEnded).toBe("output");
  });

  it("is the window", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec({ ...PROMPT, until: "exit" });
    await backend.started(0);
    await clock.untilWaiting();
    clock.advance(300_000);
    expect((await answer).result.waitEnded).toBe("window");
  });

  it("is that the input was taken", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "x", until: "written" });
    await host.clock.untilWaiting();
    process.takeWrites();
    expect((await answer).result.waitEnded).toBe("written");
  });

  it("is that the call was cancelled, before or in its turn", async () => {
    const host = open();
    const { id } = await startSession(host);
    const first = host.client.write({ processId: id }, "first");
    await host.clock.untilWaiting();
    const second = host.client.write({ processId: id }, "second");
    await host.client.send({ type: "cancel_tool", requestId: "second" });
    expect((await second).result.waitEnded).toBe("cancelled");
    await host.client.send({ type: "cancel_tool", requestId: "first" });
    expect((await first).result.waitEnded).toBe("cancelled");
  });
});
