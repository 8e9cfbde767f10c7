// An agent without tools of its own: those for files are the orchestrator's.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionCall, respond, say } from "@codex/agent/testing";
import { expect, it } from "vitest";
import { startAgent } from "./turn/support.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

it("the model of an agent gets patches, pictures and listings from its orchestrator", async () => {
  const input = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch";
  const { thread, endpoint, cwd } = await startAgent([
    respond(functionCall("c1", "apply_patch", { input })),
    respond(functionCall("c2", "view_image", { path: "a.png" })),
    respond(functionCall("c3", "list_dir", {})),
    respond(
      functionCall("c4", "exec_command", { cmd: `apply_patch <<'EOF'\n${input.replace("new.txt", "two.txt")}\nEOF` }),
    ),
    say("done"),
  ]);
  writeFileSync(join(cwd, "a.png"), Buffer.from(PIXEL, "base64"));
  expect((await thread.run("go").result).end.type).toBe("turn_completed");
  const outputs = endpoint.requests.at(-1)!.body.input.filter(({ type }) => type === "function_call_output");
  const [patched, picture, listed, script] = outputs.map(({ output }) => output);
  expect(patched).toMatch(/Success\. Updated the following files:\nA new\.txt/);
  expect(picture).toEqual([
    { type: "input_text", text: expect.stringContaining("image/png, 70 bytes") },
    { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: expect.any(String) },
  ]);
  expect(listed).toBe(`Absolute path: ${cwd}\na.png\nnew.txt`);
  expect(script).toMatch(/^Wall time: .*Success\. Updated the following files:\nA two\.txt/s);
  expect(readFileSync(join(cwd, "two.txt"), "utf8")).toBe("new\n");
});
