// The kit that checks faces, on the plainest face there is, and on faces that change something.
import { createLocalOrchestrator } from "@codex/local";
import {
  COMMAND_FACE_CASES,
  type CommandEnd,
  checkCommandFace,
  checkFace,
  FACE_CASES,
  type FaceCheck,
  FILE_FACE_CASES,
} from "@codex/local/testing";
import type { Orchestrator } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { openAtWebSocket } from "./at-websocket.js";

const open: FaceCheck["open"] = (options) => createLocalOrchestrator(options);
const faceOf = (call: (orchestrator: Orchestrator, tool: string, args: object) => Promise<{ text: string }>) => ({
  open,
  connect: (orchestrator: Orchestrator) => ({
    call: (tool: string, args: object) => call(orchestrator, tool, args),
  }),
});
const [exits] = FACE_CASES;

describe("the face kit", () => {
  it("has twelve commands", () => {
    expect(FACE_CASES).toHaveLength(12);
  });

  it.each([...FACE_CASES, ...FILE_FACE_CASES])("passes calls that stay as they are: $name", async (faceCase) => {
    await checkFace(
      faceCase,
      faceOf((orchestrator, tool, args) => orchestrator.startCall(tool, args).result),
    );
  });

  it.each(FILE_FACE_CASES)("passes them at an executor behind a websocket: $name", async (faceCase) => {
    const face = faceOf((orchestrator, tool, args) => orchestrator.startCall(tool, args).result);
    await checkFace(faceCase, { ...face, open: openAtWebSocket });
  });

  it("refuses a face that changes the text", async () => {
    const trimming = faceOf(async (orchestrator, tool, args) => {
      const { text } = await orchestrator.callTool(tool, args);
      return { text: text.trim() };
    });
    await expect(checkFace(exits!, trimming)).rejects.toThrow(/AssertionError|strictly equal/);
  });

  it("refuses a face that calls twice, or another command", async () => {
    const twice = faceOf(async (orchestrator, tool, args) => {
      await orchestrator.callTool(tool, args);
      return orchestrator.callTool(tool, args);
    });
    await expect(checkFace(exits!, twice)).rejects.toThrow("calls that `exec_command` became");
    const other = faceOf((orchestrator, tool, args) => orchestrator.callTool(tool, { ...args, workdir: "/" }));
    await expect(checkFace(exits!, other)).rejects.toThrow("audit log");
  });
});

describe("the kit of faces without tools", () => {
  /** `exec_command` in one call, as a face that runs commands. */
  const createFace = (change: (end: CommandEnd) => CommandEnd, more: object = {}) => ({
    connect: (orchestrator: Orchestrator) => ({
      async run(argv: readonly string[], { cwd }: { cwd?: string }): Promise<CommandEnd> {
        const pieces: Uint8Array[] = [];
        const args = { cmd: argv[2], shell: argv[0], login: false, workdir: cwd, yield_time_ms: 30_000, ...more };
        const onOutput = ({ bytes }: { bytes: Uint8Array }) => void pieces.push(bytes);
        const { text, structured } = await orchestrator.callTool("exec_command", args, { onOutput });
        if (structured === undefined || !("outcome" in structured)) return { error: text };
        const { outcome } = structured;
        if (outcome.kind === "lost") return { error: outcome.reason };
        const end = { exitCode: null, signal: null, output: Buffer.concat(pieces).toString() };
        return change(
          outcome.kind === "signaled" ? { ...end, signal: outcome.signal } : { ...end, ...toCode(outcome) },
        );
      },
    }),
  });
  const toCode = (outcome: { kind: string; code?: number }) => ({ exitCode: outcome.code ?? null });

  it("has all commands but the dialogue", () => {
    expect(COMMAND_FACE_CASES).toHaveLength(11);
  });

  const ofOneCall = COMMAND_FACE_CASES.filter(({ steps }) => steps.every(({ tool }) => tool === "exec_command"));

  // The flood takes as long as all others.
  it.each(ofOneCall.filter(({ name }) => !name.includes("flood")))(
    "has of `startCommand` what calls have: $name",
    async (faceCase) => {
      await checkCommandFace(
        faceCase,
        createFace((end) => end),
      );
    },
  );

  it("refuses a face that loses output, makes up an end, or runs something else", async () => {
    const check = (face: ReturnType<typeof createFace>) => checkCommandFace(exits!, face);
    const shorter = createFace((end) => ("output" in end ? { ...end, output: end.output.slice(0, -1) } : end));
    await expect(check(shorter)).rejects.toThrow(/strict|deep/i);
    const shorn = createFace((end) => ("output" in end ? { ...end, output: "hell", isTruncated: true } : end));
    await expect(check(shorn)).rejects.toThrow("not the end");
    const zero = createFace((end) => ("output" in end ? { ...end, exitCode: 0 } : end));
    await expect(check(zero)).rejects.toThrow(/strict|deep/i);
    await expect(check(createFace((end) => end, { workdir: "/" }))).rejects.toThrow("audit log");
  });
});
