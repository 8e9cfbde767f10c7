import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { findViolations } from "./support/axe.js";
import { noBrowser, openContext, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

/** Directory to save pictures in, such as `docs/pictures` to update those of the documentation; none by default. */
const PICTURES = process.env.VIEW_PICTURES;

const [GREEN, RED, FAINT, END] = ["\u001b[32m", "\u001b[31m", "\u001b[2m", "\u001b[0m"];
const RESULTS = [
  `${GREEN}✓${END} adds an item ${FAINT}2 ms${END}`,
  `${GREEN}✓${END} removes an item ${FAINT}1 ms${END}`,
  `${RED}✗ counts items of one kind once${END}`,
  `    expected ${GREEN}1${END}, got ${RED}2${END} ${FAINT}(cart.test.ts:31)${END}`,
  "",
  `${GREEN}12 passed${END}, ${RED}1 failed${END}`,
].join("\n");

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
    const workdir = mkdtempSync(join(tmpdir(), "shop-"));
    onTestFinished(() => rmSync(workdir, { recursive: true }));
    writeFileSync(join(workdir, "run-tests"), `cat <<'END'\n${RESULTS}\nEND\nexec cat`);
    for (const name of ["cart.ts", "cart.test.ts", "README.md"]) writeFileSync(join(workdir, name), "");
    view.setThread({ threadId: "0199a213-81c0-7800-8aa1-bbab2a035a53", model: "gpt-5.5" });
    view.show({ type: "turn_started", turnId: "1" });
    view.showPrompt("Make the tests of the cart pass.");
    await orchestrator.callTool("exec_command", { cmd: "ls", workdir });
    const approving = orchestrator.approvers.add({ requestApproval: async () => "accept" });
    await startSession(orchestrator, { cmd: "sh run-tests --watch", workdir, tty: true });
    approving();
    const dangerous = { cmd: "rm -rf build \u202e && make test", workdir };
    void orchestrator.callTool("exec_command", dangerous).catch(() => {});
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
