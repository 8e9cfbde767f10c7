import { describe, expect, it } from "vitest";
import { createExecutor, DEFAULT_EXECUTOR_LIMITS } from "../src/index.js";
import { ManualClock } from "./support/manual-clock.js";
import { createScriptedBackend } from "./support/scripted-backend.js";

describe("limits", () => {
  it("have these defaults", () => {
    expect(DEFAULT_EXECUTOR_LIMITS).toEqual({
      inFlightCalls: 256,
      sessions: 64,
      newestSessions: 8,
      recentSessions: 256,
      retainedLogs: 16,
      windowMs: 300_000,
      budgetBytes: 1_048_576,
      countedBytes: 1_048_576,
      waitingInputBytes: 16_777_216,
      retainedResults: 256,
      retainedResultBytes: 8_388_608,
      retainedKeys: 4096,
      forgottenKeys: 262_144,
      keySeries: 1024,
      unacknowledgedResults: 512,
      unacknowledgedBytes: 33_554_432,
      lostChannels: 64,
      keyBytes: 256,
      rememberedApprovals: 65_536,
      screens: 8,
      binaryDeltaBytes: 65_536,
      execServerTunnels: 8,
      execServerWindowBytes: 1_048_576,
      log: {},
    });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("cannot be %d", (sessions) => {
    const clock = new ManualClock();
    const create = () => createExecutor({ backend: createScriptedBackend(clock), limits: { sessions } });
    expect(create).toThrow(`executor limit \`sessions\` must be a positive integer, got ${sessions}`);
  });
});
