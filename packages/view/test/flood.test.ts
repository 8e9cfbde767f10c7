import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { noBrowser, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

const BYTES = 26_000_000;

const shownIn = (page: Page) =>
  page
    .locator("section.terminal")
    .getAttribute("data-shown")
    .then((value) => Number(value));

describe.skipIf(noBrowser !== undefined)(`a flood of ${BYTES} bytes`, () => {
  it("goes on at its offset when the page is loaded again, and ends with the last byte", async () => {
    const { orchestrator, view } = await openView();
    const half = `head -c ${BYTES / 2} /dev/zero | tr '\\0' 'x' | fold -w 99`;
    const session = await startSession(orchestrator, {
      cmd: `read go; ${half}; read on; ${half}; echo; echo end; exec cat`,
      stdin: "open",
    });
    const page = await openPage(view.url);
    await page.getByRole("region", { name: "Sessions" }).getByRole("button", { name: /head/ }).click();
    await page.locator("section.terminal").waitFor();
    await orchestrator.callTool("write_stdin", { session_id: session, chars: "go\n" }, { concurrent: true });
    await expect.poll(() => shownIn(page)).toBeGreaterThan(1_000_000);
    const frames: { offset: number; bytes: number }[] = [];
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (typeof payload === "string") return;
        frames.push({ offset: Number(payload.readBigUInt64BE(4)), bytes: payload.length - 12 });
      }),
    );
    // The second half is written while the page is loaded again, at full speed: this call receives the output.
    void orchestrator.callTool("write_stdin", { session_id: session, chars: "on\n", yield_time_ms: 30_000 });
    await page.reload();
    await page.locator("section.terminal[data-first]").waitFor();
    const first = Number(await page.locator("section.terminal").getAttribute("data-first"));
    expect(first).toBeGreaterThan(1_000_000);
    expect(first).toBeLessThan(BYTES);
    await page.locator("section.terminal .xterm-rows").getByText("end", { exact: true }).waitFor({ timeout: 60_000 });
    const total = frames.at(-1)!.offset + frames.at(-1)!.bytes;
    await expect.poll(() => shownIn(page)).toBe(total);
    // What came after the reload: from its offset on, without a gap or a repetition.
    let next = first;
    for (const { offset, bytes } of frames) {
      expect(offset).toBe(next);
      next = offset + bytes;
    }
  }, 120_000);
});
