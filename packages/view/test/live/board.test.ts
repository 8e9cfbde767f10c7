import type { ApprovalRequest } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { MAX_ENTITIES } from "../../src/limits.js";
import { Board } from "../../src/live/board.js";
import { Items } from "../../src/live/items.js";
import { Questions } from "../../src/live/questions.js";
import type { Entity, ItemContent, SessionEntity } from "../../src/wire/entities.js";

function openBoard() {
  const shown = new Map<string, Entity>();
  const board = new Board({
    set: (entities) => {
      for (const entity of entities) shown.set(`${entity.kind} ${entity.id}`, entity);
    },
    drop: (keys) => {
      for (const key of keys) shown.delete(key);
    },
  });
  return { board, shown };
}

const session = (id: number, state: SessionEntity["state"]): SessionEntity => ({
  ...{ kind: "session", id, sessionId: id, environment: "e", command: "c", tty: false, state },
  ...{ outcome: "", isFailure: false, startedAt: 0, end: 0, canType: false },
});

it("never removes a question that is open, however many newer ones were answered", () => {
  const { board, shown } = openBoard();
  const questions = new Questions(board, Date.now, () => () => {});
  const ask = (id: string) => {
    const request = {
      ...{ id, environment: "e", toolName: "exec_command", command: ["rm"], plainCommands: [["rm"]], cwd: "/" },
      ...{ tty: false, reason: "r", cause: { kind: "policy" }, justification: null, afterDenial: null, sandbox: null },
      ...{ additionalPermissions: null, sandboxPermissions: "use_default", proposedAmendment: null },
      availableDecisions: ["accept", "decline"],
    } as unknown as ApprovalRequest;
    void questions.approver.requestApproval(request, { signal: new AbortController().signal });
  };
  ask("waits");
  for (let count = 0; count < 2 * MAX_ENTITIES.question; count += 1) {
    ask(`q${count}`);
    questions.answer({ type: "answer", question: `q${count}`, decision: "accept" }, "viewer 1");
  }
  board.flush();
  expect(shown.has("question waits")).toBe(true);
  expect(shown.size).toBe(MAX_ENTITIES.question);
});

it("never removes a session that runs, and shows no more ended ones than fit", () => {
  const { board, shown } = openBoard();
  for (let id = 0; id < 2 * MAX_ENTITIES.session; id += 1) board.set(session(id, id % 8 === 0 ? "running" : "ended"));
  board.flush();
  const running = [...shown.values()].filter((entity) => entity.kind === "session" && entity.state === "running");
  expect(running).toHaveLength(MAX_ENTITIES.session / 4);
  expect(shown.size).toBe(MAX_ENTITIES.session);
});

it("an item that is live keeps its place, however many newer ones follow", () => {
  const { board } = openBoard();
  const items = new Items(board);
  const set = (id: string, status: string) => items.set(id, { kind: "command", status } as unknown as ItemContent);
  set("live", "in_progress");
  for (let count = 0; count < 2 * MAX_ENTITIES.item; count += 1) set(`ended ${count}`, "completed");
  set("live", "completed");
  expect(board.get("item live")).toMatchObject({ order: 0 });
});
