import { describe, expect, it } from "vitest";
import { createRandomIds, type Ids } from "../../src/index.js";
import { DEFAULT_EXECUTOR_LIMITS, FORMER_IDS } from "../../src/limits.js";
import type { Session } from "../../src/sessions/session.js";
import { SessionTable } from "../../src/sessions/session-table.js";
import { useResumableHosts } from "../support/resumable.js";

describe("ids", () => {
  const openHost = useResumableHosts();
  /** Would begin at 1000 each time. */
  const ids = () => createRandomIds(() => 0);

  it("of output that may be remembered are not given again at once", async () => {
    const { connect } = openHost({ ids: ids(), limits: { recentSessions: 1 } });
    const client = connect();
    await client.initialize();
    for (let round = 0; round < 10; round += 1) await client.exec({ command: ["echo", "heard"] });
    const seen = client.deltas().map(({ processId }) => processId);
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => 1000 + index));
  });

  it("are given again after many others", () => {
    const table = new SessionTable(DEFAULT_EXECUTOR_LIMITS, ids());
    const take = () => {
      const id = table.reserveOutput();
      table.retireId(id);
      return id;
    };
    const taken = Array.from({ length: FORMER_IDS }, take);
    expect(new Set(taken).size).toBe(FORMER_IDS);
    expect([take(), take()]).toEqual([1000 + FORMER_IDS, 1000]);
  });

  it("name one thing at a time", () => {
    const table = new SessionTable(DEFAULT_EXECUTOR_LIMITS, ids());
    expect([table.reserveOutput(), table.reserve().id, table.reserveOutput()]).toEqual([1000, 1001, 1002]);
  });
});

it("a start at the limit of sessions takes work that grows as their number does", () => {
  const readsAt = (sessions: number) => {
    let reads = 0;
    let last = 0;
    const ids = { session: () => ++last } as unknown as Ids; // nothing else of it is used
    const table = new SessionTable({ sessions, newestSessions: 8, recentSessions: 16, retainedLogs: 4 }, ids);
    const start = (client: string) => {
      const { id } = table.reserve(client);
      const running = { kind: "running" };
      table.add({
        id,
        isUsed: false,
        isEstablished: true,
        state: { outcome: running, closed: false },
        process: { outcome: running, exited: new Promise(() => {}) },
        live: { hasSent: false },
        get client() {
          reads += 1;
          return client;
        },
      } as unknown as Session); // what the table uses of one
    };
    for (let count = 0; count < sessions; count += 1) start(`client ${count % 20}`);
    reads = 0;
    for (let count = 0; count < 10; count += 1) start(`client ${count}`);
    return reads;
  };
  expect(readsAt(800) / readsAt(100)).toBeLessThan(10);
});
