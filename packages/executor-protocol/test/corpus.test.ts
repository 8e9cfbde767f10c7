import { readdirSync, readFileSync } from "node:fs";
import * as protocol from "@codex/executor-protocol";
import { formatProblem, PARSE_CONTEXT } from "@codex/executor-protocol";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";

/** Cases of one schema. A rejected case is `base` with members replaced, or one left out. */
interface Corpus {
  schema: string;
  accepted: { name?: string; value: Json; written?: Json }[];
  base: Json;
  rejected: { with?: Json; without?: string; problem: string }[];
}
type Json = Record<string, unknown>;

const schemas: Readonly<Record<string, z.ZodMiniType & { shape: object }>> = {
  listToolsRequest: protocol.listToolsRequestSchema,
  callToolRequest: protocol.callToolRequestSchema,
  shutdownRequest: protocol.shutdownRequestSchema,
  initializeRequest: protocol.initializeRequestSchema,
  cancelToolRequest: protocol.cancelToolRequestSchema,
  ack: protocol.ackSchema,
  listToolsResponse: protocol.listToolsResponseSchema,
  callToolResponse: protocol.callToolResponseSchema,
  shutdownResponse: protocol.shutdownResponseSchema,
  errorMessage: protocol.errorMessageSchema,
  initializeResponse: protocol.initializeResponseSchema,
  toolsChanged: protocol.toolsChangedSchema,
  toolOutput: protocol.toolOutputSchema,
  sessionExited: protocol.sessionExitedSchema,
  openExecGateRequest: protocol.openExecGateRequestSchema,
  openExecGateResponse: protocol.openExecGateResponseSchema,
  programQuestion: protocol.programQuestionSchema,
  questionWithdrawn: protocol.questionWithdrawnSchema,
  programAnswer: protocol.programAnswerSchema,
  hostQuestion: protocol.hostQuestionSchema,
  hostReport: protocol.hostReportSchema,
  hostAnswer: protocol.hostAnswerSchema,
  execCommandRequest: protocol.execCommandRequestSchema,
  writeStdinRequest: protocol.writeStdinRequestSchema,
  unifiedExecResult: protocol.unifiedExecResultSchema,
  recordedOutput: protocol.recordedOutputSchema,
  openExecServerRequest: protocol.openExecServerRequestSchema,
  openExecServerResponse: protocol.openExecServerResponseSchema,
  execServerPiece: protocol.execServerPieceSchema,
  execServerAck: protocol.execServerAckSchema,
  execServerClosed: protocol.execServerClosedSchema,
};

const directory = new URL("./corpus/", import.meta.url);
const corpora = readdirSync(directory).map(
  (file): Corpus => JSON.parse(readFileSync(new URL(file, directory), "utf8")),
);

test("every schema has a corpus, and every message type is in one", () => {
  expect(corpora.map(({ schema }) => schema).sort()).toEqual(Object.keys(schemas).sort());
  const types = [...protocol.orchestratorMessageSchema.def.options, ...protocol.executorMessageSchema.def.options];
  const covered = corpora.flatMap(({ base }) => (typeof base.type === "string" ? [base.type] : []));
  // Some go in both directions.
  const names = new Set(types.map((option) => option.shape.type.def.values[0]));
  expect(covered.sort()).toEqual([...names].sort());
});

function fill(base: Json, rejected: Corpus["rejected"]): { value: Json; problem: string }[] {
  return rejected.map(({ with: replaced, without, problem }) => {
    const value = { ...base, ...replaced };
    if (without !== undefined) delete value[without];
    return { value, problem };
  });
}

describe.each(corpora)("$schema", ({ schema: name, accepted, base, rejected }) => {
  const schema = schemas[name]!;
  const rejectedValues = fill(base, rejected);

  test("has an accepted and a rejected case for every field", () => {
    for (const field of Object.keys(schema.shape)) {
      expect(
        accepted.some(({ value }) => field in value),
        `accepted \`${field}\``,
      ).toBe(true);
      if (field === "type") continue;
      expect(
        rejected.some((each) => each.without === field || (each.with !== undefined && field in each.with)),
        `rejected \`${field}\``,
      ).toBe(true);
    }
    expect(z.safeParse(schema, base).success).toBe(true);
  });

  test.each(accepted)("accepts and writes $name $value", ({ value, written = value }) => {
    const parsed = z.safeParse(schema, value, PARSE_CONTEXT);
    expect(parsed.error).toBeUndefined();
    expect(JSON.parse(JSON.stringify(parsed.data))).toEqual(written);
    expect(Object.keys(parsed.data ?? {}).sort()).toEqual(Object.keys(written).sort());
  });

  const seeds = accepted.filter((each) => each.name?.startsWith("seed: "));
  test.each(seeds)("writes byte for byte: $name", ({ value }) => {
    expect(JSON.stringify(z.parse(schema, value))).toBe(JSON.stringify(value));
  });

  test.each(rejectedValues)("rejects $problem", ({ value, problem }) => {
    const parsed = z.safeParse(schema, value, PARSE_CONTEXT);
    if (parsed.success) expect.unreachable(`accepted ${JSON.stringify(value)}`);
    expect(formatProblem(parsed.error!, value)).toBe(problem);
  });
});

describe.each(corpora.filter(({ base }) => "type" in base))("$schema", ({ accepted, base, rejected }) => {
  test("is the same within the union of messages", () => {
    const { parseOrchestratorMessage, parseExecutorMessage } = protocol;
    const known = parseOrchestratorMessage(base).kind === "unknown" ? parseExecutorMessage : parseOrchestratorMessage;
    for (const { value, written = value } of accepted) expect(known(value)).toEqual({ kind: "ok", message: written });
    for (const { value, problem } of fill(base, rejected)) {
      expect(known(value)).toMatchObject({ kind: "invalid", problem });
    }
  });
});
