import { writeFileSync } from "node:fs";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it } from "vitest";
import { createRandomIds } from "../../src/index.js";
import { bytesOf, execRequest, unwrap, writeRequest } from "../support/client.js";
import { idOf, isAlive, readUntil } from "../support/real-host.js";
import { resumeWith, startLasting, useResumableHosts } from "../support/resumable.js";

/** Tells its pid at once, and one thing more when there is such a file. */
const talksWhen = (file: string) =>
  `echo pid $$; until [ -e ${file} ]; do sleep 0.01; done; echo heard; exec sleep 1000`;

function createGate() {
  let open!: () => void;
  let reach!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { open, reach, opened, reached };
}

/** What processes wrote can be followed at once, and read again once the gate is open. */
function withSlowReads(backend: ExecBackend, gate: ReturnType<typeof createGate>): ExecBackend {
  return {
    ...backend,
    async start(spec) {
      const process = await backend.start(spec);
      const { log } = process;
      const read = log.read.bind(log);
      log.read = async (from, to) => {
        gate.reach();
        await gate.opened;
        return read(from, to);
      };
      return process;
    },
  };
}

describe("a lost channel", () => {
  const open = useResumableHosts();

  it("ends everything of an orchestrator that did not introduce itself", async () => {
    const { connect } = open();
    const client = connect();
    const answer = await client.exec({ command: ["sh", "-c", "echo $$; exec sleep 1000"], until: "output" });
    const pid = Number.parseInt(answer.output, 10);
    expect(isAlive(pid)).toBe(true);
    await client.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("ends everything at once where the grace is 0, and says so by the capabilities", async () => {
    const { connect } = open({ resumeGraceMs: 0 });
    const client = connect();
    const { sessionId, pid } = await startLasting(client);
    expect(client.all("initialize_response")[0]).not.toHaveProperty("resume");
    expect(client.all("initialize_response")[0]?.capabilities).not.toContain("resume");
    await client.close();
    expect(isAlive(pid)).toBe(false);
    expect(await connect().refusedInitialize({ resumeSessionId: sessionId })).toMatch(/^unknown resumeSessionId/);
  });

  it("leaves the sessions, which another channel gets back", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId, id, pid } = await startLasting(first, "echo pid $$; exec cat");
    await first.cut();
    const second = connect();
    const response = await second.initialize(resumeWith(sessionId));
    expect(response).toMatchObject({ sessionId, resume: { graceMs: 30_000, ackBytes: 131_072, resend: [] } });
    await first.served;
    expect(await readUntil(second, id, "still here", { input: "still here\n" })).toBe("still here\n");
    await second.send({ type: "shutdown", requestId: "bye" });
    await second.served;
    expect(isAlive(pid)).toBe(false);
    expect(await connect().refusedInitialize({ resumeSessionId: sessionId })).toMatch(
      /there are no sessions to resume/,
    );
  });

  it("ends no call: it goes on, and is answered once over the next channel", async () => {
    const { connect, effectsFile } = open();
    const first = connect();
    const { sessionId, id } = await startLasting(first, talksWhen(`${effectsFile}.go`));
    const args = writeRequest({ processId: id, until: "output" });
    await first.send({ type: "call_tool", requestId: "waits", toolName: "write_stdin", arguments: args });
    await first.call("list_sessions", {});
    await first.cut();
    const second = connect();
    const received = [{ processId: id, offset: 4 }];
    await second.initialize(resumeWith(sessionId, { unanswered: [{ requestId: "waits" }], received }));
    writeFileSync(`${effectsFile}.go`, "");
    const { outcome } = await second.ofType("call_tool_response", "waits");
    expect(unwrap(outcome).output).toBe("heard\n");
    await second.call("list_sessions", {});
    expect(second.all("call_tool_response").filter(({ requestId }) => requestId === "waits").length).toBe(1);
    // Live output goes on behind what was received, whatever was sent before.
    expect(second.deltas()[0]?.offset).toBe(4);
  });

  it("is refused where a newer attempt came before it, and takes nothing from that one", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const id = idOf(await first.exec({ command: ["cat"], stdin: "open", yieldTimeMs: 0 }));
    await first.cut();
    const newest = connect();
    const { resume } = await newest.initialize(resumeWith(sessionId, { attempt: 2 }));
    expect(resume).toMatchObject({ lastAttempt: 2 });
    for (const attempt of [1, 2]) {
      const late = connect();
      expect(await late.refusedInitialize(resumeWith(sessionId, { attempt }))).toMatch(/a newer attempt to resume/);
      expect(late.all("error")).toMatchObject([{ code: "late_attempt" }]);
      await late.cut();
    }
    expect((await newest.write({ processId: id, input: "here\n", until: "output" })).output).toBe("here\n");
    // One without a number is not known to be late, and one that goes on counting is not.
    const unnumbered = connect();
    await unnumbered.initialize(resumeWith(sessionId));
    const next = connect();
    expect((await next.initialize(resumeWith(sessionId, { attempt: 3 }))).resume).toMatchObject({ lastAttempt: 3 });
    expect((await next.write({ processId: id, input: "there\n", until: "output" })).output).toBe("there\n");
  });

  it("costs no answer that was on its way: it is given again, the same one", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const answer = await first.call("exec_command", execRequest({ command: ["sh", "-c", "echo once"] }), "r1");
    await first.cut();
    for (let round = 0; round < 3; round++) {
      const next = connect();
      const asked = {
        unanswered: [{ requestId: "r1" }],
        received: [{ processId: first.deltas()[0]!.processId, offset: 0 }],
      };
      await next.initialize(resumeWith(sessionId, asked));
      expect((await next.ofType("call_tool_response", "r1")).outcome).toEqual(answer);
      expect(bytesOf(next.deltas("r1")).toString()).toBe("once\n");
      await next.cut();
    }
  });

  it("loses no output that went with the channel while its answer was being made", async () => {
    const reads = createGate();
    const { connect } = open({ backend: () => withSlowReads(createLocalBackend(), reads) });
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const args = execRequest({ command: ["sh", "-c", "echo once"] });
    await first.send({ type: "call_tool", requestId: "r1", toolName: "exec_command", arguments: args });
    await reads.reached; // its output is on its way by now
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId, { unanswered: [{ requestId: "r1" }] }));
    reads.open();
    const { outcome } = await second.ofType("call_tool_response", "r1");
    expect(unwrap(outcome).output).toBe("once\n");
    expect(bytesOf(second.deltas("r1")).toString()).toBe("once\n");
    await second.call("list_sessions", {});
    expect(second.all("call_tool_response").filter(({ requestId }) => requestId === "r1").length).toBe(1);
  });

  it("gives again all that was not acknowledged to an orchestrator that does not say what it waits for", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize();
    const one = await first.call("list_sessions", {}, "one");
    await first.call("list_sessions", {}, "two");
    await first.send({ type: "ack", answers: ["two", "never", "one-more"] });
    await first.call("count", {}, "three");
    await first.cut();
    const second = connect();
    await second.initialize({ resumeSessionId: sessionId });
    await second.ofType("call_tool_response", "three");
    await second.call("list_sessions", {}, "last");
    expect(second.all("call_tool_response").map(({ requestId }) => requestId)).toEqual(["one", "three", "last"]);
    expect((await second.ofType("call_tool_response", "one")).outcome).toEqual(one);
  });

  it("lets a later answer cover what one told that nobody waits for any more", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const args = execRequest({ command: ["sh", "-c", "echo untold; exec sleep 1000"], until: "output" });
    const id = idOf(unwrap(await first.call("exec_command", args, "lost")));
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId, { givenUp: ["lost"] }));
    expect((await second.write({ processId: id, yieldTimeMs: 0 })).output).toBe("untold\n");
  });

  it("lets the end be told that one told which nobody waits for any more", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    await first.call("exec_command", execRequest({ command: ["sh", "-c", "echo untold; exit 3"] }), "lost");
    const [delta] = first.deltas("lost");
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId, { givenUp: ["lost"] }));
    const { output, result } = await second.write({ processId: delta!.processId });
    expect([output, result.exitCode]).toEqual(["untold\n", 3]);
  });

  it.runIf(process.platform === "linux")("lets a refused program be told again with a later answer", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const rule = { id: "no touch", pattern: [["touch"]], decision: "refuse", place: { kind: "inside" } } as const;
    const args = execRequest({
      command: ["sh", "-c", "touch made; echo done"],
      execGate: { rules: [rule], hostExecutables: [], approved: [] },
    });
    const lost = unwrap(await first.call("exec_command", args, "lost"));
    expect(lost.result.programs).toHaveLength(1);
    const [delta] = first.deltas("lost");
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId, { givenUp: ["lost"] }));
    const { result } = await second.write({ processId: delta!.processId });
    expect(result.programs).toEqual(lost.result.programs);
  });

  it.runIf(process.platform === "linux")(
    "keeps a program waiting, whose question is asked again",
    async () => {
      const { connect } = open();
      const first = connect();
      const { sessionId } = await first.initialize({ acknowledges: true, answersPrograms: true });
      const rule = { id: "r", pattern: [["uname"]], decision: "ask", place: { kind: "inside" } } as const;
      const questions = { key: "k", most: 1, timeoutMs: 60_000 };
      const execGate = { rules: [rule], hostExecutables: [], approved: [], questions };
      const args = execRequest({ command: ["sh", "-c", "exec uname"], execGate });
      first.call("exec_command", args, "asking").catch(() => {}); // its channel is lost
      const question = await first.ofType("program_question");
      expect(question).toMatchObject({ key: "k", argv: ["uname"], rule: "r" });
      await first.cut();
      const second = connect();
      await second.initialize(resumeWith(sessionId, { unanswered: [{ requestId: "asking" }], answersPrograms: true }));
      expect(await second.ofType("program_question")).toEqual(question);
      const answer = { type: "program_answer", questionId: question.questionId, decision: "run" } as const;
      await second.send(answer);
      await second.send(answer); // an answer to a question that is not open is ignored
      const { outcome } = await second.ofType("call_tool_response", "asking");
      expect(outcome).toMatchObject({ structured: { outcome: { kind: "exited", code: 0 } } });
    },
    30_000,
  ); // it opens a gate, which starts threads

  it("repeats how sessions ended, as that may not have been received", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId, id } = await startLasting(first);
    await first.call("kill_session", { session_id: id });
    await first.ofType("session_exited");
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId));
    expect(await second.ofType("session_exited")).toMatchObject({ processId: id, outcome: { by: "terminate" } });
  });

  it("says of no session that runs how another of its id ended", async () => {
    const { connect } = open({ ids: createRandomIds(() => 0), limits: { recentSessions: 1 } });
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const start = async () => idOf(await first.exec({ command: ["sleep", "1000"], yieldTimeMs: 0 }));
    const id = await start();
    await first.call("kill_session", { session_id: id });
    await first.write({ processId: id });
    await first.exec({ command: ["true"] }); // the only one that is remembered
    expect(await start()).toBe(id);
    await first.cut();
    const second = connect();
    await second.initialize(resumeWith(sessionId));
    await second.call("list_sessions", {});
    expect([first.all("session_exited").length, second.all("session_exited")]).toEqual([1, []]);
  });
});

describe("a resume", () => {
  const open = useResumableHosts();

  it.each(["", "lost", "connection-1", "x".repeat(10_000), "00000000-0000-4000-8000-000000000000"])(
    "with an unknown id (%#) is an error, not a fresh session, and the channel goes on",
    async (resumeSessionId) => {
      const { connect } = open();
      const owner = connect();
      const { id } = await startLasting(owner);
      await owner.cut();
      const client = connect();
      const before = await client.refusedInitialize({ resumeSessionId });
      expect(before).toMatch(/^unknown resumeSessionId `.*`: there are no sessions to resume$/);
      expect(client.all("initialize_response")).toEqual([]);
      await client.initialize();
      expect(await client.call("list_sessions", {})).toMatchObject({ structured: { sessions: [] } });
      expect(await client.call("kill_session", { session_id: id })).toMatchObject({ status: "error" });
      await client.cut();
    },
  );

  it("must be the first message of a channel", async () => {
    const { connect } = open();
    const owner = connect();
    const { sessionId } = await startLasting(owner);
    await owner.cut();
    const client = connect();
    await client.call("list_sessions", {});
    expect(await client.refusedInitialize(resumeWith(sessionId))).toBe(
      "`resumeSessionId` must come with the first message of a channel",
    );
    await client.cut();
  });

  it("takes the place of a channel that seems to be open", async () => {
    const { connect, effectsFile } = open();
    const first = connect();
    const { sessionId, id } = await startLasting(first, talksWhen(`${effectsFile}.go`));
    const release = first.stall(); // half-open: it takes nothing, and is not closed
    const args = writeRequest({ processId: id, until: "output" });
    await first.send({ type: "call_tool", requestId: "waits", toolName: "write_stdin", arguments: args });
    const second = connect();
    const received = [{ processId: id, offset: 0 }];
    await second.initialize(resumeWith(sessionId, { unanswered: [{ requestId: "waits" }], received }));
    const arrived = second.all("initialize_response")[0]?.resume?.resend?.length === 0;
    if (!arrived)
      await second.send({ type: "call_tool", requestId: "waits", toolName: "write_stdin", arguments: args });
    writeFileSync(`${effectsFile}.go`, "");
    await second.ofType("call_tool_response", "waits");
    expect(bytesOf(second.deltas()).toString()).toMatch(/^pid \d+\nheard\n$/);
    release();
    await first.cut();
    await first.served;
    expect(first.all("call_tool_response").map(({ requestId }) => requestId)).not.toContain("waits");
    expect(first.messages.at(-1)).toMatchObject({
      type: "error",
      requestId: null,
      message: "the connection was resumed over another channel",
      code: "taken_over",
    });
  });

  it("by two at once goes to one of them, and the other is closed", async () => {
    const { connect } = open();
    const first = connect();
    const { sessionId, id } = await startLasting(first, "echo pid $$; exec cat");
    await first.cut();
    const rivals = [connect(), connect(), connect()];
    await Promise.all(rivals.map((rival) => rival.initialize(resumeWith(sessionId)).catch(() => {})));
    const over = await Promise.all(
      rivals.map((rival) =>
        Promise.race([
          rival.served.then(() => true),
          rival.call("list_sessions", {}).then(
            () => false,
            () => true,
          ),
        ]),
      ),
    );
    expect(over.filter((isOver) => !isOver).length).toBe(1);
    const winner = rivals[over.indexOf(false)]!;
    expect(await readUntil(winner, id, "one", { input: "one\n" })).toContain("one\n");
  });

  it("does nothing that had arrived over the channel before and was sent again", async () => {
    const { connect, effects } = open();
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const call = { type: "call_tool", requestId: "c", toolName: "count", arguments: {}, sequence: 1 };
    // It lies in the channel while the resume comes.
    void first.send(call);
    void first.cut();
    const second = connect();
    const response = await second.initialize(resumeWith(sessionId, { unanswered: [{ requestId: "c", sequence: 1 }] }));
    if (response.resume?.resend?.includes("c")) await second.send(call);
    await second.ofType("call_tool_response", "c");
    await second.call("list_sessions", {});
    expect(effects()).toEqual(["tool"]);
  });
});
