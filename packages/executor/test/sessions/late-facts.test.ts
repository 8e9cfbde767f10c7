import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import { useScriptedHosts } from "../support/scripted-host.js";

const COMMAND = { command: ["scripted"], tty: true, yieldTimeMs: 0 };

describe("what is known only a moment after the end of a process", () => {
  const open = useScriptedHosts();

  async function start() {
    const host = open();
    const answer = host.client.exec(COMMAND);
    const process = await host.backend.started(0);
    await host.clock.untilWaiting();
    host.clock.advance(0);
    await answer;
    return { ...host, process };
  }

  it("is that it took its input, where the answer to that comes behind the exit", async () => {
    const { client, process, clock } = await start();
    process.holdWrites = true;
    const answer = client.write({ processId: 1000, input: "taken" });
    await clock.untilWaiting();
    process.end(0);
    await process.closed;
    await settle();
    await clock.untilWaiting();
    process.takeWrites();
    const { result } = await answer;
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result).not.toHaveProperty("notices");
  });

  it("may stay unknown for its input, which is said", async () => {
    const { client, process, clock } = await start();
    process.holdWrites = true;
    const answer = client.write({ processId: 1000, input: "taken" });
    await clock.untilWaiting();
    process.end(0);
    await process.closed;
    await settle();
    await clock.untilWaiting();
    clock.advance(1_000);
    const { result } = await answer;
    expect(result.notices).toEqual(["the process has ended; whether it read all of the 5 bytes of input is not known"]);
    process.takeWrites();
  });

  it.each(["cancel", "output"] as const)("is the rest of its output, also where the wait ended by %s", async (how) => {
    const { client, process, clock } = await start();
    const answer = client.write({ processId: 1000, ...(how === "output" ? { until: how } : {}) }, "poll");
    await clock.untilWaiting();
    process.exit(3);
    await process.exited;
    if (how === "output") process.print("first ");
    else await client.send({ type: "cancel_tool", requestId: "poll" });
    await settle();
    await clock.untilWaiting();
    process.print("last");
    process.close();
    const { result, output } = await answer;
    expect(output).toBe(how === "output" ? "first last" : "last");
    expect(result).toMatchObject({ exitCode: 3, closed: true });
    expect(result).not.toHaveProperty("notices");
  });

  it("is not that a process was left behind, where nobody could see that", async () => {
    const { client, process, clock } = await start();
    Object.defineProperty(process, "pid", { value: undefined });
    const answer = client.write({ processId: 1000 });
    await clock.untilWaiting();
    process.exit(0);
    await process.exited;
    await clock.untilWaiting();
    // Longer than on this host: what follows the exit comes over a network.
    clock.advance(250);
    await settle();
    await clock.untilWaiting();
    clock.advance(250);
    const { result } = await answer;
    expect(result.notices).toEqual([
      "its output may not be complete yet; read_output with session_id 1000 and from 0 reads later output",
    ]);
  });

  describe("where the output comes over a connection", () => {
    /** After the exit, when nothing has come for as long as output may take: the questions whether all has arrived, to be answered. */
    async function untilAsked() {
      const host = await start();
      const { process, client, clock } = host;
      Object.defineProperty(process, "pid", { value: undefined });
      const questions: ((answer: boolean | undefined) => void)[] = [];
      process.hasReceivedAll = () => new Promise((resolve) => questions.push(resolve));
      const answer = client.write({ processId: 1000 });
      await clock.untilWaiting();
      process.exit(3);
      await process.exited;
      const quiet = async () => {
        for (let half = 0; half < 2; half += 1) {
          await settle();
          await clock.untilWaiting();
          clock.advance(250);
        }
        await settle();
      };
      await quiet();
      expect(questions).toHaveLength(1);
      return { ...host, answer, questions, quiet };
    }

    it("is the rest of it, however long an outage delays that", async () => {
      const { process, answer, questions } = await untilAsked();
      process.print("after the outage");
      process.close();
      const { result, output } = await answer;
      expect(output).toBe("after the outage");
      expect(result).toMatchObject({ exitCode: 3, closed: true });
      questions[0]!(true);
    });

    it("is asked again where the connection was lost meanwhile", async () => {
      const { process, answer, questions, quiet } = await untilAsked();
      questions[0]!(undefined);
      await quiet();
      expect(questions).toHaveLength(2);
      process.print("more");
      questions[1]!(true);
      const { result, output } = await answer;
      expect(output).toBe("more");
      expect(result).toMatchObject({ exitCode: 3, closed: false });
    });
  });
});
