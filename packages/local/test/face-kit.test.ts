// The kit that checks faces, on the plainest face there is, and on faces that change something.
import { createLocalOrchestrator } from "@codex/local";
import { checkFace, FACE_CASES, type FaceCheck } from "@codex/local/testing";
import type { Orchestrator } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";

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

  it.each(FACE_CASES)("passes calls that stay as they are: $name", async (faceCase) => {
    await checkFace(
      faceCase,
      faceOf((orchestrator, tool, args) => orchestrator.startCall(tool, args).result),
    );
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
