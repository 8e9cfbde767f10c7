import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { CommandStart, Orchestrator, RunOutcome } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { createLocalOrchestrator } from "../create-local-orchestrator.js";
import { auditRun, type FaceCheck } from "./check-face.js";
import { FACE_CASES, type FaceCase, type FaceStep } from "./face-cases.js";

/** A face that runs commands and has no tools, such as the terminals of ACP. */
export interface CommandFace {
  /** Runs a command to its end as the stack does. `signal` aborts when it has to be ended, with SIGTERM. */
  run(argv: readonly string[], options: { cwd?: string; signal: AbortSignal }): Promise<CommandEnd>;
  close?(): Promise<void>;
}

/** What a stack reports of a command that has ended. */
export type CommandEnd =
  /** All of the output as text, or with `isTruncated` the end of it. */
  | { output: string; isTruncated?: boolean; exitCode: number | null; signal: string | null }
  /** It was refused, did not start, or its end is unknown: with the reason. */
  | { error: string };

/** The `FACE_CASES` that a face without input can run: all but the dialogue. */
export const COMMAND_FACE_CASES: readonly FaceCase[] = FACE_CASES.filter(
  ({ steps }) => !steps.some(({ args }) => "stdin" in args(0)),
);

/**
 * Runs one case through a face without tools: output and end must equal those of `startCommand`, byte for byte, and the audit log must be
 * the same. Rejects with an AssertionError otherwise.
 */
export async function checkCommandFace(
  faceCase: FaceCase,
  {
    open = createLocalOrchestrator,
    connect,
  }: {
    /** As in `checkFace`. */
    open?: FaceCheck["open"];
    connect(orchestrator: Orchestrator): Promise<CommandFace> | CommandFace;
  },
): Promise<void> {
  const ends: { direct: CommandEnd[]; faced: CommandEnd[] } = { direct: [], faced: [] };
  const run = (make: typeof connect, found: CommandEnd[]) =>
    auditRun(faceCase, open, async (orchestrator) => {
      const face = await make(orchestrator);
      try {
        for (const command of commandsOf(faceCase)) found.push(await runCommand(command, face, orchestrator));
      } finally {
        await face.close?.();
      }
    });
  const direct = await run(startDirectly, ends.direct);
  const faced = await run(connect, ends.faced);
  for (const [index, end] of ends.faced.entries()) checkEnd(end, ends.direct[index]);
  deepStrictEqual(faced, direct, `the audit log of "${faceCase.name}"`);
}

/** A command of a case, and whether it is ended once it has had output. */
interface Command {
  step: FaceStep;
  isEnded: boolean;
}

const commandsOf = ({ steps }: FaceCase): Command[] =>
  steps.flatMap((step, index) =>
    step.tool === "exec_command" ? [{ step, isEnded: steps[index + 1]?.tool === "write_stdin" }] : [],
  );

async function runCommand(
  { step: { args, isError = false, meanwhile }, isEnded }: Command,
  face: CommandFace,
  orchestrator: Orchestrator,
): Promise<CommandEnd> {
  const { cmd, shell, workdir } = args(0) as { cmd: string; shell: string; workdir?: string };
  const ending = new AbortController();
  let calls = 0;
  let acted: Promise<unknown> | undefined;
  const stop = orchestrator.observe((event) => {
    if (event.type === "call_ended") calls += 1;
    if (event.type !== "output" || acted !== undefined) return;
    if (isEnded) ending.abort();
    acted = meanwhile?.(orchestrator) ?? Promise.resolve();
  });
  const place = workdir === undefined ? {} : { cwd: workdir };
  const end = await face.run([shell, "-c", cmd], { ...place, signal: ending.signal });
  await acted;
  stop();
  strictEqual(calls, 1, "number of commands that it became");
  strictEqual("error" in end, isError, JSON.stringify(end).slice(0, 1_000));
  return end;
}

function checkEnd(end: CommandEnd, direct: CommandEnd | undefined): void {
  if ("error" in end || direct === undefined || "error" in direct || end.isTruncated !== true) {
    deepStrictEqual(end, direct);
    return;
  }
  const { output, isTruncated: _, ...rest } = end;
  const { output: whole, ...wanted } = direct;
  deepStrictEqual(rest, wanted);
  ok(output.length < whole.length && whole.endsWith(output), "the output is not the end of what there was");
}

/** `startCommand` as a face. */
const startDirectly = (orchestrator: Orchestrator): CommandFace => ({
  async run(argv, { cwd, signal }) {
    const pieces: Uint8Array[] = [];
    const command = orchestrator.startCommand(
      { argv: [...argv], ...defined({ cwd }) },
      { signal, onOutput: ({ bytes }) => void pieces.push(bytes) },
    );
    const start = await command.started;
    return toEnd(start, await command.ended, Buffer.concat(pieces).toString());
  },
});

function toEnd(start: CommandStart, outcome: RunOutcome, output: string): CommandEnd {
  if (start.kind === "refused") return { error: start.result.text };
  if (start.kind !== "started") return { error: start.reason };
  if (outcome.kind !== "ended") return { error: outcome.reason };
  const { outcome: end } = outcome;
  if (end.kind === "exited") return { output, exitCode: end.code, signal: null };
  if (end.kind === "signaled") return { output, exitCode: null, signal: end.signal };
  return { error: "reason" in end ? end.reason : "it was followed no further" };
}
