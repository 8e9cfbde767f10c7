import { readdirSync, readFileSync } from "node:fs";
import {
  parseExecCommandRequest,
  parseExecutorMessage,
  parseOrchestratorMessage,
  parseWriteStdinRequest,
} from "@codex/executor-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyJson, check, mutatedJson } from "./support.js";

const directory = new URL("../../../executor-protocol/test/corpus/", import.meta.url);
const corpus: unknown[] = readdirSync(directory)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => {
    const { accepted } = JSON.parse(readFileSync(new URL(name, directory), "utf8")) as {
      accepted: { value: unknown }[];
    };
    return accepted.map(({ value }) => value);
  });
const values = fc.oneof({ weight: 1, arbitrary: anyJson }, { weight: 6, arbitrary: mutatedJson(corpus) });

/** A problem is one line of bounded length: it goes back over the wire. */
function checkProblem(problem: string): void {
  expect(problem).not.toBe("");
  expect(Buffer.byteLength(problem)).toBeLessThan(2_000);
}

describe.each([
  ["of an orchestrator", parseOrchestratorMessage],
  ["of an executor", parseExecutorMessage],
])("a message %s", (_name, parse) => {
  it("is ok, unknown or invalid and never throws; an ok one parses again after encoding", () =>
    check(
      fc.property(values, (value) => {
        const parsed = parse(value);
        if (parsed.kind === "ok") {
          const written = JSON.parse(JSON.stringify(parsed.message));
          const again = parse(written);
          expect(again).toMatchObject({ kind: "ok" });
          if (again.kind === "ok") expect(JSON.stringify(again.message)).toBe(JSON.stringify(parsed.message));
          return;
        }
        if (parsed.kind === "invalid") checkProblem(parsed.problem);
        if (parsed.requestId !== null) expect(value).toHaveProperty("requestId", parsed.requestId);
      }),
      2_000,
    ));
});

describe.each([
  ["exec_command", parseExecCommandRequest],
  ["write_stdin", parseWriteStdinRequest],
])("the arguments of %s", (_name, parse) => {
  it("are ok or have a problem; ok ones parse again after encoding", () =>
    check(
      fc.property(values, (value) => {
        const parsed = parse(value);
        if (parsed.kind === "invalid") return checkProblem(parsed.problem);
        // -0 comes as -0 from JSON text, but is written as 0.
        const written: unknown = JSON.parse(JSON.stringify(parsed.value));
        expect(parse(written)).toEqual({ ...parsed, value: written });
      }),
      2_000,
    ));
});
