import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalEnvironment } from "@codex/local";
import { createSandboxSelector, loadRulePolicy, type PolicyOptions } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";
import { startRegistry } from "../../testkit/test/network/registry.js";
import { noBrowser, openContext, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

const noVim = existsSync("/usr/bin/vim") || existsSync("/usr/bin/vim.tiny") ? undefined : "vim is not installed";

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex view-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe.skipIf(noBrowser !== undefined)(`a run${noBrowser === undefined ? "" : `: ${noBrowser}`}`, () => {
  it("with two environments is followed live, typed into, and ended", async () => {
    const { orchestrator, view } = await openView();
    const second = createLocalEnvironment({ id: "second" });
    onTestFinished(() => second.close());
    orchestrator.addEnvironment(second);
    const page = await openPage(view.url);
    const environments = page.getByRole("region", { name: "Environments" });
    await environments.getByText("local").waitFor();
    await environments.getByRole("listitem").nth(1).getByText("second").waitFor();
    await orchestrator.callTool("exec_command", { cmd: "echo hello; exit 3" });
    const cards = page.getByRole("region", { name: "Conversation" }).getByRole("listitem");
    await cards.getByText("echo hello; exit 3").waitFor();
    await cards.getByText("exit code 3").first().waitFor();
    await cards.getByRole("button", { name: "Open terminal" }).click();
    const over = page.getByRole("region", { name: "echo hello; exit 3" });
    await over.locator(".xterm-rows").getByText("hello").waitFor();
    expect(await over.getAttribute("data-shown")).toBe("6");
    // Both executors use the same ids of sessions.
    const ids = [
      await startSession(orchestrator, { cmd: "echo from the first; cat", tty: true, environment_id: "local" }),
      await startSession(orchestrator, { cmd: "echo from the second; cat", tty: true, environment_id: "second" }),
    ];
    expect(new Set(ids).size).toBe(2);
    const sessions = page.getByRole("region", { name: "Sessions" });
    for (const name of ["first", "second"]) {
      await sessions.getByRole("button", { name: `echo from the ${name}; cat` }).click();
      const terminal = page.getByRole("region", { name: `echo from the ${name}; cat` });
      await terminal.locator(".xterm-rows").getByText(`from the ${name}`).waitFor();
      expect(await terminal.locator(".xterm-rows").textContent()).not.toContain(name === "first" ? "second" : "first");
    }
    await cards
      .nth(2)
      .getByText(/^second · /)
      .waitFor();
    const terminal = page.getByRole("region", { name: "echo from the second; cat" });
    await terminal.getByRole("button", { name: "Typing: off" }).click();
    await page.keyboard.type("typed by a person\n");
    await terminal.locator(".xterm-rows").getByText("typed by a person").first().waitFor();
    await orchestrator.callTool("kill_session", { session_id: ids[1], environment_id: "second" });
    await terminal.getByText(/ended by/).waitFor();
    // The list asks both executors each second: it has found the same sessions.
    expect(await sessions.getByRole("listitem").count()).toBe(3);
  });

  it.skipIf(noVim !== undefined)(`shows vim, and types into it${noVim === undefined ? "" : `: ${noVim}`}`, async () => {
    const { orchestrator, view } = await openView();
    const file = join(createDirectory(), "a file.txt");
    writeFileSync(file, "first line\n");
    const cmd = `TERM=xterm $(command -v vim || command -v vim.tiny) -u NONE -N '${file}'`;
    await startSession(orchestrator, { cmd, tty: true, yield_time_ms: 1000 });
    const page = await openPage(view.url);
    await page.getByRole("region", { name: "Sessions" }).getByRole("button", { name: /vim/ }).click();
    const terminal = page.getByRole("region", { name: /vim/ });
    await terminal.locator(".xterm-rows").getByText("first line").waitFor();
    await terminal.getByRole("button", { name: "Typing: off" }).click();
    await page.keyboard.type("osecond line");
    await terminal.locator(".xterm-rows").getByText("second line").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.type(":wq\n");
    await terminal.getByText(/exit code 0/).waitFor();
    await expect.poll(() => readText(file)).toBe("first line\nsecond line\n");
    await page.keyboard.press("F6");
  });
});

const readText = async (file: string) => (await import("node:fs/promises")).readFile(file, "utf8");

const isSandboxed = (await createCommandSandbox().getSupport()).kind === "bubblewrap";

describe.skipIf(noBrowser !== undefined)("approvals", () => {
  async function openAsking(more: Partial<PolicyOptions> = {}) {
    const directory = createDirectory();
    const saved: string[] = [];
    const rules = await loadRulePolicy([]);
    const opened = await openView({
      policy: {
        approvalPolicy: "untrusted",
        sandbox: "danger-full-access",
        rules,
        saveRule: async (rule) => {
          saved.push("host" in rule ? rule.host : rule.words.join(" "));
          return { kind: "saved" } as never; // what the real one says is not looked at here
        },
        ...more,
      },
    });
    const page = await openPage(opened.view.url);
    const approvals = page.getByRole("region", { name: "Approvals" });
    const run = (cmd: string) => opened.orchestrator.callTool("exec_command", { cmd, workdir: directory });
    return { ...opened, directory, saved, page, approvals, run };
  }

  it("are accepted by keyboard alone, and the command runs; another is declined, and does not", async () => {
    const { directory, page, approvals, run } = await openAsking();
    const accepted = run("touch accepted");
    await approvals.getByText("Run this command?").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter"); // "Go to approvals"
    const accept = approvals.getByRole("button", { name: "Accept", exact: true });
    for (let presses = 0; presses < 10; presses++) {
      if (await accept.evaluate((button) => button.matches(":focus"))) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    expect(await accepted).toMatchObject({ status: "success" });
    expect(existsSync(join(directory, "accepted"))).toBe(true);
    await approvals.getByText("accepted by viewer 1").waitFor();
    const declined = run("touch declined");
    await approvals.getByRole("button", { name: "Decline" }).press("Enter");
    expect(await declined).toMatchObject({ status: "denied" });
    expect(existsSync(join(directory, "declined"))).toBe(false);
    await approvals.getByText("declined by viewer 1").waitFor();
  });

  it("show hidden characters, and save the rule as it was edited", async () => {
    const { approvals, run, saved } = await openAsking();
    const hidden = run("touch a\u202eb\u200bc");
    await approvals.getByText("U+202E").first().waitFor();
    expect(await approvals.locator(".command.whole").textContent()).toBe("touch aU+202EbU+200Bc");
    await approvals.getByRole("button", { name: "Decline" }).click();
    await hidden;
    await approvals.getByText("declined by viewer 1").waitFor();
    const edited = run("touch one two");
    const rule = approvals.getByRole("textbox", {
      name: "Always allow this command; if its program runs no others, all that begin so",
    });
    await rule.fill("touch 'one");
    await approvals.getByRole("button", { name: "Save rule" }).click();
    await approvals.getByText("A quote is not closed.").waitFor();
    await rule.fill("touch one");
    await rule.press("Enter");
    expect(await edited).toMatchObject({ status: "success" });
    expect(saved).toEqual(["touch one"]);
  });

  it.runIf(process.platform === "linux" && isSandboxed)(
    "save the rule of a program that waits where it starts, in its sandbox",
    async () => {
      const { directory, approvals, run, saved } = await openAsking({
        approvalPolicy: "on-request",
        sandbox: "workspace-write",
      });
      writeFileSync(join(directory, "name"), "rm");
      const removed = run('echo > made; "$(cat name)" -f made; test -e made || echo gone');
      const rule = approvals.getByRole("textbox", {
        name: "Always allow this command, in its sandbox; if its program runs no others, all that begin so",
      });
      await rule.press("Enter");
      expect((await removed).text).toContain("gone");
      expect(saved).toEqual(["rm -f made"]);
    },
  );

  it.runIf(isSandboxed && existsSync("/usr/bin/nsenter") && existsSync("/usr/bin/curl"))(
    "allow a host for good, and the card of the command shows what it reached and did not",
    async () => {
      await startRegistry();
      const { page, approvals, run, saved } = await openAsking({
        approvalPolicy: "on-request",
        sandbox: createSandboxSelector({ mode: "workspace-write", networkAccess: true }),
        network: { allowUpstreamProxy: true, rules: [{ pattern: "evil.example", decision: "deny" }] },
      });
      const fetched = run("curl -s http://registry.example/tiny; curl -s -o x http://evil.example/");
      await approvals.getByText("registry.example:80").first().waitFor();
      await approvals.getByRole("button", { name: "Accept always" }).click();
      expect((await fetched).text).toContain('"tiny"');
      expect(saved).toEqual(["registry.example"]);
      const hosts = page.getByRole("region", { name: "Conversation" }).getByRole("list", { name: "Network" });
      await hosts.getByText(/^registry\.example:80, sent \d+ bytes, received \d+ bytes$/).waitFor();
      await hosts.getByText("evil.example:80 denied (evil.example)").waitFor();
      expect((await run("curl -s http://registry.example/tiny")).text).toContain('"tiny"');
    },
  );

  it("count once: the second viewer is told who was first, and so is one at the program", async () => {
    const { orchestrator, view, page, approvals, run } = await openAsking();
    const other = await openPage(view.createLink("answer"));
    const pending = run("touch x");
    const theirs = other.getByRole("region", { name: "Approvals" });
    await theirs.getByRole("button", { name: "Accept", exact: true }).waitFor();
    await approvals.getByRole("button", { name: "Decline" }).click();
    expect(await pending).toMatchObject({ status: "denied" });
    await theirs.getByText("declined by viewer 1").waitFor();
    expect(await theirs.getByRole("button", { name: "Accept", exact: true }).count()).toBe(0);
    const remove = orchestrator.approvers.add({
      requestApproval: async () => ({ decision: "accept", via: "the terminal" }),
    });
    expect(await run("touch y")).toMatchObject({ status: "success" });
    await approvals.getByText("accepted by the terminal").waitFor();
    remove();
    await page.close();
  });

  it("cannot be answered with a link for reading, whatever its page sends", async () => {
    const { view, run, approvals } = await openAsking();
    const reader = await openPage(view.readOnlyUrl);
    const pending = run("touch x");
    const theirs = reader.getByRole("region", { name: "Approvals" });
    await theirs.getByText("This link is read-only.").waitFor();
    expect(await theirs.getByRole("button").count()).toBe(0);
    await approvals.getByRole("button", { name: "Decline" }).click();
    expect(await pending).toMatchObject({ status: "denied" });
  });
});

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
