import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createProjectReader } from "@codex/agent";
import { customCall, functionCall, respond, type Script, say } from "@codex/agent/testing";
import { expect, it } from "vitest";
import { createApplyPatchTool } from "../../src/tools/patch/apply-patch.js";
import type { FilePolicy, PatchPermit } from "../../src/tools/patch/file-policy.js";
import { useHost } from "../host.js";
import { patchOf } from "../tools/patch/support.js";
import { readAll, startAgent } from "./support.js";

const host = useHost();

/** An agent with `apply_patch` on the files of the host. */
function start(script: Script, permit: PatchPermit = { kind: "granted", fileSandbox: undefined }) {
  const policy: FilePolicy = { sandboxOf: async () => ({ fileSandbox: undefined }), permit: async () => permit };
  const environments = { ids: ["box"], get: async () => ({ id: "box", files: host.files, cwd: host.root }) };
  const tool = createApplyPatchTool({ environments, policy, clock: { now: () => 0 }, newId: () => "1" });
  const readContext = ({ prompt }: { prompt: string }) =>
    createProjectReader().read({ files: host.files, confined: host.files, cwd: host.root }, prompt);
  return startAgent(script, { agent: { tools: [tool], cwd: host.root, customTools: true, readContext } });
}

const outputs = (input: readonly { type: string; output?: unknown }[]) =>
  input.filter(({ type }) => type.endsWith("_call_output")).map(({ output }) => output);
const change = patchOf("*** Update File: a", "@@", "-x", "+y");
const inScript = (patch: string) => `apply_patch <<'EOF'\n${patch}EOF\n`;

it("applies patches in both forms and in scripts, in the order of the calls", async () => {
  host.put({ a: "x\n", "AGENTS.md": "Be brief.", ".agents/skills/s/SKILL.md": "---\ndescription: d\n---\n" });
  const again = patchOf("*** Update File: a", "@@", "-y", "+z");
  const { thread, endpoint } = await start([
    respond(
      customCall("c1", "apply_patch", change),
      functionCall("c2", "apply_patch", { input: again }),
      functionCall("c3", "exec_command", { cmd: inScript(patchOf("*** Add File: b", "+1")) }),
      functionCall("c4", "exec_command", { cmd: `true\n${inScript(patchOf("*** Add File: c", "+1"))}` }),
    ),
    say("done"),
  ]);
  const events = await readAll(thread.run("go"));
  const answered = outputs(endpoint.requests[1]!.body.input).map(String);
  expect(answered.slice(0, 3).map((one) => one.split("\n").at(-2))).toEqual(["M a", "M a", "A b"]);
  expect(answered[3]).toMatch(/(?:not found|Permission denied).*apply_patch is a tool, not a program of this shell/s);
  expect(readFileSync(join(host.root, "a"), "utf8")).toBe("z\n");
  const kinds = events.flatMap((event) => (event.type === "item_completed" ? [event.item.kind] : []));
  expect(kinds).toEqual(["file_change", "file_change", "file_change", "command", "message"]);
  const sent = JSON.stringify(endpoint.requests[0]!.body.input);
  expect(sent).toContain("<INSTRUCTIONS>\\nBe brief.\\n</INSTRUCTIONS>");
  expect(sent).toContain("- s: d (file: r0/s/SKILL.md)");
});

it("ends the turn where the person who was asked ends it", async () => {
  host.put({ a: "x\n" });
  const { thread, endpoint } = await start([respond(customCall("c1", "apply_patch", change))], { kind: "cancelled" });
  const events = await readAll(thread.run("go"));
  expect(events.at(-1)).toMatchObject({ type: "turn_failed" });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "item_completed",
      item: expect.objectContaining({ status: "declined" }) as object,
    }),
  );
  expect(endpoint.requests.length).toBe(1);
  expect(host.tree()).toEqual({ a: "x\n" });
});

it.each([
  ["a call", customCall("c1", "apply_patch", patchOf("*** Update File: a", "@@", "-x", "+y", "*** Delete File: b"))],
  [
    "a script",
    functionCall("c1", "exec_command", {
      cmd: inScript(patchOf("*** Update File: a", "@@", "-x", "+y", "*** Delete File: b")),
    }),
  ],
])("tells on resuming how far %s got whose answer was lost", async (_, call) => {
  host.put({ a: "y\n", b: "1\n" });
  const { agent, endpoint } = await start([say("I see.")]);
  const items = [{ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }, call];
  const thread = await agent.resumeThread({ id: "t", items, startedCalls: new Set(["c1"]) });
  await readAll(thread.run("what happened?"));
  expect(outputs(endpoint.requests[0]!.body.input)).toEqual([
    expect.stringMatching(/was lost.*\na: new, as the patch leaves it\nb: old, the patch has not reached it$/s),
  ]);
});
