// Serves the page of `@codex/view` with a scripted orchestrator: something runs, something waits for an answer, and something
// can be typed into. The page is built again when its sources change; reload it then.
import { watch } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLocalOrchestrator } from "@codex/local";
import { attachView } from "@codex/view";
import { buildViewPage } from "./view-page.mjs";

await buildViewPage();
const orchestrator = await createLocalOrchestrator({ policy: { approvalPolicy: "untrusted", sandbox: "read-only" } });
const view = await attachView(orchestrator, { port: 7350 });
view.setThread({ threadId: "scripted", model: "scripted-model" });
view.showPrompt("Make the tests pass.");
void orchestrator.callTool("exec_command", { cmd: "ls -l" });
void orchestrator.callTool("exec_command", { cmd: "while :; do date; sleep 1; done", tty: true });
void orchestrator.callTool("exec_command", { cmd: "cat", tty: true });
console.log(`${view.url}\n${view.createLink("answer")}\n${view.readOnlyUrl}`);

let building;
watch(fileURLToPath(new URL("../packages/view/page", import.meta.url)), { recursive: true }, () => {
  clearTimeout(building);
  building = setTimeout(() => buildViewPage().then(() => console.log("built"), console.error), 100);
});
