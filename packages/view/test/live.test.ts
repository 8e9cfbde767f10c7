import { describe, expect, it } from "vitest";
import { noBrowser, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

describe.skipIf(noBrowser !== undefined)(`a run in a browser${noBrowser === undefined ? "" : `: ${noBrowser}`}`, () => {
  it("is followed live: environment, command, output, outcome", async () => {
    const { orchestrator, view } = await openView();
    const page = await openPage(view.url);
    await page.getByRole("region", { name: "Environments" }).getByText("local").waitFor();
    await orchestrator.callTool("exec_command", { cmd: "echo hello; exit 3" });
    const card = page.getByRole("region", { name: "Conversation" }).getByRole("listitem");
    await card.getByText("echo hello; exit 3").waitFor();
    await card.getByText("exit code 3").first().waitFor();
    await card.getByRole("button", { name: "Open terminal" }).click();
    const terminal = page.getByRole("region", { name: "echo hello; exit 3" });
    await terminal.locator(".xterm-rows").getByText("hello").waitFor();
    expect(await terminal.getAttribute("data-shown")).toBe("6");
  });

  it("types into a session, once typing is switched on", async () => {
    const { orchestrator, view } = await openView();
    const session = await startSession(orchestrator, { cmd: "cat", tty: true });
    const page = await openPage(view.url);
    await page.getByRole("region", { name: "Sessions" }).getByRole("button", { name: "cat" }).click();
    const terminal = page.getByRole("region", { name: "cat" });
    await terminal.getByRole("button", { name: "Typing: off" }).click();
    await page.keyboard.type("typed by a person\n");
    await terminal.locator(".xterm-rows").getByText("typed by a person").first().waitFor();
    await orchestrator.callTool("kill_session", { session_id: session });
    await terminal.getByText(/ended by/).waitFor();
  });

  it("asks for approval, and runs what is accepted", async () => {
    const { orchestrator, view } = await openView({
      policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    });
    const page = await openPage(view.url);
    const result = orchestrator.callTool("exec_command", { cmd: "touch /dev/null" });
    const approvals = page.getByRole("region", { name: "Approvals" });
    await approvals.getByRole("button", { name: "Accept", exact: true }).press("Enter");
    expect(await result).toMatchObject({ status: "success" });
    await approvals.getByText("accepted by viewer 1").waitFor();
  });
});
