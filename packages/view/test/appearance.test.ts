import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findViolations } from "./support/axe.js";
import { noBrowser, openContext, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

/** Directory to save pictures in, such as `docs/pictures` to update those of the documentation; none by default. */
const PICTURES = process.env.VIEW_PICTURES;

const LOOKS = [
  { name: "light-wide", colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { name: "dark-wide", colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  { name: "light-narrow", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "dark-narrow", colorScheme: "dark", viewport: { width: 390, height: 844 } },
] as const;

describe.skipIf(noBrowser !== undefined)("the page", () => {
  /** A turn with a command that is over, one on a terminal, and one that waits for an approval. */
  async function openRun() {
    const { orchestrator, view } = await openView({
      policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    });
    view.setThread({ threadId: "0199a213-81c0-7800-8aa1-bbab2a035a53", model: "gpt-5.5" });
    view.showPrompt("Make the tests pass.");
    await orchestrator.callTool("exec_command", { cmd: "ls packages" });
    const colours = 'printf "\\033[32m✓\\033[0m 12 passed  \\033[31m✗ 1 failed\\033[0m\\n"; cat';
    const approving = orchestrator.approvers.add({ requestApproval: async () => "accept" });
    await startSession(orchestrator, { cmd: colours, tty: true });
    approving();
    void orchestrator.callTool("exec_command", { cmd: "rm -rf build \u202e && make test" }).catch(() => {});
    return view;
  }

  it("has no violation that axe-core finds: light and dark, wide and narrow, with and without a terminal, audit", async () => {
    const view = await openRun();
    for (const { name, ...look } of LOOKS) {
      const page = await openPage(view.createLink("answer"), await openContext(look));
      await page.getByRole("button", { name: "Accept", exact: true }).waitFor();
      await page.getByRole("region", { name: "Conversation" }).getByText("waits for approval").waitFor();
      expect(await findViolations(page), `${name}, without a terminal`).toEqual([]);
      await takePicture(page, `view-${name}.png`);
      await page.getByRole("region", { name: "Sessions" }).getByRole("button").first().click();
      await page.locator(".xterm-rows").getByText("12 passed").waitFor();
      expect(await findViolations(page), `${name}, with a terminal`).toEqual([]);
      await takePicture(page, `view-terminal-${name}.png`);
      await page.getByRole("button", { name: "Audit" }).click();
      expect(await findViolations(page), `${name}, audit`).toEqual([]);
      await page.close();
    }
  }, 120_000);
});

async function takePicture(page: Page, file: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, file) });
}
