import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type { AuditEvent, AuditLog } from "@codex/audit";
import type { AuditOptions, Orchestrator, ResultImage, ToolCallResult } from "@codex/orchestrator";
import type { PolicyOptions } from "@codex/policy";
import { createLocalOrchestrator } from "../create-local-orchestrator.js";
import type { FaceCase, FaceStep } from "./face-cases.js";

/** A face: the tools of an orchestrator as an agent stack has them. */
export interface Face {
  /** Calls a tool as a model of that stack does. */
  call(tool: string, args: Record<string, unknown>): Promise<FaceAnswer>;
  close?(): Promise<void>;
}

/** What the model of a stack gets. */
export interface FaceAnswer {
  /** All of the text, as the model reads it. */
  text: string;
  /** Left out if the stack does not distinguish a failure from a result. */
  isError?: boolean;
  /** Its pictures. Left out if the stack has none. */
  images?: readonly ResultImage[];
}

/** How a face is checked. */
export interface FaceCheck {
  /** Opens an orchestrator with one executor of this host and no approver. Closed by the check. Default `createLocalOrchestrator`. */
  open?(options: { policy: PolicyOptions; audit: AuditOptions }): Promise<Orchestrator>;
  /** Creates the face of an orchestrator. */
  connect(orchestrator: Orchestrator): Promise<Face> | Face;
}

/**
 * Runs one case through a face: its model must get the text of `callTool` byte for byte, and the audit log must equal
 * that of the same calls of `callTool`. Rejects with an AssertionError otherwise.
 */
export async function checkFace(
  faceCase: FaceCase,
  { open = createLocalOrchestrator, connect }: FaceCheck,
): Promise<void> {
  const run = (make: FaceCheck["connect"]) =>
    auditRun(faceCase, open, async (orchestrator) => {
      const face = await make(orchestrator);
      try {
        let session = 0;
        for (const step of faceCase.steps) session = await runStep(step, session, face, orchestrator);
      } finally {
        await face.close?.();
      }
    });
  const direct = await run((orchestrator) => ({ call: async (tool, args) => orchestrator.callTool(tool, args) }));
  deepStrictEqual(await run(connect), direct, `the audit log of "${faceCase.name}"`);
}

/** The audit records of the calls of a run, without what differs from run to run. */
export async function auditRun(
  { policy = EVERYTHING }: FaceCase,
  open: NonNullable<FaceCheck["open"]>,
  run: (orchestrator: Orchestrator) => Promise<void>,
): Promise<unknown[]> {
  const events: AuditEvent[] = [];
  const log: Pick<AuditLog, "record" | "flush"> = {
    async record(event) {
      events.push(event);
    },
    async flush() {},
  };
  // An orchestrator uses no other member of a log.
  const orchestrator = await open({ policy, audit: { log: log as AuditLog } });
  try {
    await run(orchestrator);
  } finally {
    await orchestrator.close();
  }
  return events.map(describeEvent);
}

const EVERYTHING: PolicyOptions = { approvalPolicy: "never", sandbox: "danger-full-access" };

async function runStep(step: FaceStep, session: number, face: Face, orchestrator: Orchestrator): Promise<number> {
  const { tool, args, expected, isError = false, meanwhile } = step;
  const results: ToolCallResult[] = [];
  let hasOutput = () => {};
  const output = new Promise<void>((resolve) => {
    hasOutput = resolve;
  });
  const stop = orchestrator.observe((event) => {
    if (event.type === "output") hasOutput();
    if (event.type === "call_ended") results.push(event.result);
  });
  const [answer] = await Promise.all([
    face.call(tool, args(session)),
    meanwhile && output.then(() => meanwhile(orchestrator)),
  ]);
  stop();
  strictEqual(results.length, 1, `calls that \`${tool}\` became`);
  const text = results[0]?.text ?? "";
  strictEqual(answer.text, text);
  if (answer.isError !== undefined) strictEqual(answer.isError, isError);
  const images = (results[0]?.isError === false ? results[0].images : undefined) ?? [];
  if (answer.images !== undefined) deepStrictEqual(answer.images, images);
  strictEqual(results[0]?.isError, isError, text);
  for (const pattern of expected) match(text, pattern);
  return Number(/session ID (\d+)/.exec(text)?.[1] ?? session);
}

/** The part that must be equal: not ids, times, and where windows happened to end. */
function describeEvent(event: AuditEvent): unknown {
  switch (event.type) {
    case "call": {
      const { tool, environment, argvSha256, cwd, tty, runs, requirement, decidedBy, cause, status, code } = event;
      return {
        type: "call",
        tool,
        environment,
        argvSha256,
        cwd,
        tty,
        runs,
        requirement,
        decidedBy,
        cause,
        status,
        code,
      };
    }
    case "approval":
      return { type: "approval", decision: event.decision, by: event.by };
    case "result":
      return {
        type: "result",
        status: event.status,
        code: event.code,
        outcome: event.outcome,
        exitCode: event.exitCode,
      };
    default:
      return { type: event.type };
  }
}
