import { join } from "node:path";
import type { ApprovalAnswer, ApprovalRequest } from "@codex/orchestrator";
import { createCommandSandbox } from "@codex/sandbox";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Host, useHost } from "../../host.js";
import { createPatchTool, patchOf } from "./support.js";

const change = (path: string) => [`*** Update File: ${path}`, "@@", "-x", "+y"];

/** An approver that always answers the same, and what it was asked. */
function approverOf(answer: () => ApprovalAnswer) {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    requestApproval: async (request: ApprovalRequest) => {
      asked.push(request);
      return answer();
    },
  };
}

const fail = (): never => {
  throw new Error("no terminal");
};

let problem: string | undefined;
beforeAll(async () => {
  problem = (await createCommandSandbox().getSupport()).problem;
});
beforeEach((context) => {
  if (problem !== undefined) context.skip(`no sandbox here: ${problem}`);
});

/** Without the places that a sandbox keeps closed while it is there. */
const treeOf = (host: Host) =>
  Object.fromEntries(Object.entries(host.tree()).filter(([path]) => !/(^|\/)\.(git|agents|codex|aws)$/.test(path)));

describe("who may be asked about a patch", () => {
  const host = useHost();
  const outside = () => join(host.root, "out");
  const toolOf = (approver?: ReturnType<typeof approverOf>, signal?: AbortSignal) =>
    createPatchTool(host.files, join(host.root, "w"), {
      mode: "workspace-write",
      approvalPolicy: "on-request",
      ...(approver && { approver }),
      ...(signal && { signal }),
    });

  it("shows the whole patch, and applies it outside once it is accepted", async () => {
    host.put({ out: "x\n", "w/a": "x\n" });
    const approver = approverOf(() => "accept");
    const input = patchOf(...change(outside()), ...change("a"));
    const tool = toolOf(approver);
    expect(await tool.call({ input })).toMatchObject({ status: "completed" });
    expect(treeOf(host)).toEqual({ out: "y\n", "w/a": "y\n" });
    expect(approver.asked).toMatchObject([
      {
        toolName: "apply_patch",
        command: ["apply_patch", input],
        cwd: join(host.root, "w"),
        reason: `\`${outside()}\` is outside of the writable roots`,
        availableDecisions: ["accept", "accept_for_session", "decline", "cancel"],
      },
    ]);
    host.put({ out: "x\n" });
    await tool.call({ input: patchOf(...change(outside())) });
    expect(approver.asked.length).toBe(2);
  });

  it("remembers for which files it was accepted for the session", async () => {
    host.put({ out: "x\n", other: "x\n", "w/a": "x\n" });
    const approver = approverOf(() => "accept_for_session");
    const tool = toolOf(approver);
    for (const name of ["out", "out", "other"]) {
      host.put({ [name]: "x\n" });
      expect((await tool.call({ input: patchOf(...change(join(host.root, name))) })).status).toBe("completed");
    }
    expect(approver.asked.length).toBe(2);
  });

  it.each<[name: string, answer: (() => ApprovalAnswer) | undefined, reason: RegExp]>([
    ["nobody is there", undefined, /there is no approver/],
    ["the user declines", () => "decline", /the user declined/],
    [
      "the user saves a rule, which was not offered",
      () => "accept_and_save",
      /`accept_and_save` is not one of accept, /,
    ],
    ["asking fails", fail, /requesting it failed: no terminal/],
    ["the user ends the turn", () => "cancel", /ended the turn/],
  ])("changes nothing when %s", async (name, answer, reason) => {
    host.put({ out: "x\n", "w/a": "x\n" });
    const input = patchOf(...change("a"), ...change(outside()));
    const called = await toolOf(answer && approverOf(answer)).call({ input });
    expect(called).toMatchObject({ status: "declined", output: expect.stringMatching(reason) });
    expect(called.output).toMatch(/^The patch is rejected: .*Nothing was changed\.$/);
    expect(called.endsTurn).toBe(name === "the user ends the turn" ? true : undefined);
    expect(treeOf(host)).toEqual({ out: "x\n", "w/a": "x\n" });
  });

  it("stops waiting when the turn is interrupted", async () => {
    host.put({ out: "x\n", "w/a": "" });
    const controller = new AbortController();
    const approver = {
      asked: [],
      requestApproval: () => {
        controller.abort();
        return new Promise<ApprovalAnswer>(() => {});
      },
    };
    const called = await toolOf(approver, controller.signal).call({ input: patchOf(...change(outside())) });
    expect(called).toMatchObject({ status: "declined", output: expect.stringContaining("interrupted") });
  });
});

describe("the sandbox of file calls", () => {
  const host = useHost();
  const tool = (approvalPolicy: "never" | "on-request" = "never") =>
    createPatchTool(host.files, join(host.root, "w"), { mode: "workspace-write", approvalPolicy });

  it("lets a patch through inside, and is enforced by the host where a link leads outside", async () => {
    host.put({ "w/a": "x\n", "out/f": "x\n", "w/link": { link: "../out/f" }, "w/dir": { link: "../out" } });
    expect(await tool().call({ input: patchOf(...change("a")) })).toMatchObject({ status: "completed" });
    const linked = await tool().call({ input: patchOf("*** Add File: b", "+1", ...change("dir/f")) });
    expect(linked).toMatchObject({
      status: "declined",
      output: expect.stringContaining("outside of the writable roots"),
    });
    const alone = await tool().call({ input: patchOf(...change("link")) });
    expect(alone.output).toMatch(/Failed to write file .*\/w\/link: .*\nThe patch was undone/);
    expect(treeOf(host)).toEqual({
      "w/a": "y\n",
      "out/f": "x\n",
      "w/link": { link: "../out/f" },
      "w/dir": { link: "../out" },
    });
  });
});
