import { expect, it } from "vitest";
import { Board } from "../../src/live/board.js";
import { SessionList } from "../../src/live/session-list.js";
import { Sessions } from "../../src/live/sessions.js";

it("a session with limits shows what it uses, for as long as it runs", async () => {
  let listed: object = {
    use: { memory: 3 * 1024 * 1024, processes: 2, cpuTime: 1.25, disk: 0 },
    outcome: { kind: "running" },
  };
  const orchestrator = {
    listEnvironments: () => [{ id: "far", status: "ready" }],
    callTool: async () => ({
      isError: false,
      structured: { sessions: [{ sessionId: 7, command: "make", cwd: "/", tty: false, seconds: 1, ...listed }] },
    }),
  } as never;
  const board = new Board({ set: () => {}, drop: () => {} });
  const sessions = new Sessions(
    orchestrator,
    board,
    () => 0,
    async () => {},
  );
  const list = new SessionList(orchestrator, sessions, () => 0);
  await list.update();
  const shown = () => sessions.find("far", 7)?.entity;
  expect(shown()).toMatchObject({ state: "running", use: "3 MiB of memory · 1.3 s of processors · 2 processes" });
  listed = { use: { cpuTime: 2 }, outcome: { kind: "exited", code: 0 } };
  await list.update();
  expect(shown()).toMatchObject({ state: "ended", use: "2.0 s of processors" });
});
