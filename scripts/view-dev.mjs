// Serves the page of `@codex/view` with a scripted orchestrator: something runs, something waits for an answer, and something
// can be typed into. Start it again after a change of the page.
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
