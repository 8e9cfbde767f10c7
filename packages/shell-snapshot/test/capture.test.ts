import { createOutputLog, DEFAULT_LOG_LIMITS, type ExecBackend } from "@codex/exec-backend";
import { expect, it } from "vitest";
import { captureState } from "../src/capture.js";
import { NONCE } from "../src/shell-state.js";

const outcome = { kind: "exited", code: 0 } as const;

/** A host that answers with the report of two variables, between which `lost` bytes never arrive. */
function createHost(lost: number): ExecBackend {
  return {
    async start({ argv: [, , nonce] }) {
      const log = createOutputLog(DEFAULT_LOG_LIMITS);
      log.append("stdout", Buffer.from(`\n${nonce}\0variable\0A\x001\0`));
      log.skip({ bytes: lost, reason: "it was evicted" });
      log.append("stdout", Buffer.from(`variable\0C\x003\0${nonce}\0`));
      log.finish();
      const ended = { exited: Promise.resolve(outcome), closed: Promise.resolve(), outcome };
      const receipt = { running: false, members: [], strays: [], signals: [], gone: true, outcome };
      return {
        ...ended,
        log,
        pid: undefined,
        startedAt: 0,
        write: async () => {},
        closeStdin: async () => {},
        signal: async () => false,
        resize: async () => {},
        terminate: async () => receipt,
        dispose: () => log.close(),
      };
    },
    close: async () => {},
    async [Symbol.asyncDispose]() {},
  };
}

it("a state of which a part was lost is not used", async () => {
  const spec = { shell: "sh", flags: "-c", report: NONCE, cwd: "/", env: {} };
  expect(await captureState(createHost(0), spec, 1000)).toMatchObject({
    variables: new Map([
      ["A", "1"],
      ["C", "3"],
    ]),
  });
  expect(await captureState(createHost(17), spec, 1000)).toEqual({
    reason: "a part of the state that the shell reported was lost",
  });
});
