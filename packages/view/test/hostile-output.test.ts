import { describe, expect, it } from "vitest";
import { noBrowser, openContext, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

describe.skipIf(noBrowser !== undefined)(`hostile output${noBrowser === undefined ? "" : `: ${noBrowser}`}`, () => {
  it("sets no title, writes no clipboard, opens no link, and gets no answer from the terminal", async () => {
    const { orchestrator, view } = await openView();
    const context = await openContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await openPage(view.url, context);
    const title = await page.title();
    const output = [
      "\\033]0;a title of the program\\007",
      "\\033]52;c;c3RvbGVu\\007",
      "\\033]8;;javascript:alert(1)\\007a link\\033]8;;\\007",
      "<img src=x onerror=document.title=1>",
      "\\033[c\\033[6n\\033[>c\\033[?1$p",
      "done\\n",
    ].join("");
    await startSession(orchestrator, { cmd: `printf '${output}'; exec cat -v`, tty: true });
    await page.getByRole("region", { name: "Sessions" }).getByRole("button").first().click();
    const rows = page.locator(".xterm-rows");
    await rows.getByText("done").waitFor();
    await page.getByRole("button", { name: "Typing: off" }).click();
    await page.keyboard.type("typed\n");
    await rows.getByText("typed").first().waitFor();
    expect(await rows.textContent()).not.toContain("^[[");
    expect(await page.title()).toBe(title);
    expect(await page.evaluate("navigator.clipboard.readText()").catch(() => "")).not.toBe("stolen");
    expect(await page.locator("img").count()).toBe(0);
    expect(context.pages()).toHaveLength(1);
  });
});
