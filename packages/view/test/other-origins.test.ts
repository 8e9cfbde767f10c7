import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { noBrowser, openContext, openPage } from "./support/browser.js";
import { send, upgradeStatus } from "./support/http.js";
import { openView } from "./support/orchestrators.js";

/** A server at another port of this host, as a sandboxed command can start one; `sent` are the header lines it received. */
async function startOther(): Promise<{ url: string; sent: string[] }> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(...request.rawHeaders);
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>other</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

/** What a page can store, and what it gets from a view, as a script in it sees that. */
const tryView = `(async (view) => {
  const socket = (protocols) => new Promise((resolve) => {
    const opened = new WebSocket(view.replace("http", "ws") + "/live", protocols);
    opened.onopen = () => resolve("open");
    opened.onerror = () => resolve("refused");
  });
  const read = (path, options) => fetch(view + path, { credentials: "include", ...options }).then(({ status }) => status, () => "refused");
  const held = [document.cookie, ...Object.values(localStorage), ...Object.values(sessionStorage)].join("");
  return {
    held,
    sockets: [await socket([]), await socket(["codex-view"]), await socket(["codex-view", "x"])],
    requests: [await read("/me"), await read("/recording/1"), await read("/enter", { method: "POST", body: "x" })],
  };
})`;

describe.skipIf(noBrowser !== undefined)(`other origins${noBrowser === undefined ? "" : `: ${noBrowser}`}`, () => {
  it("a page at another port of this host gets neither the key nor anything else of a view that the browser opened", async () => {
    const { view } = await openView();
    const context = await openContext();
    const page = await openPage(view.url, context);
    expect(await page.evaluate("localStorage.length")).toBe(1);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", expires: -1 });
    const { url, sent } = await startOther();
    const other = await context.newPage();
    await other.goto(url);
    const refused = { sockets: Array(3).fill("refused"), requests: Array(3).fill("refused") };
    const base = new URL(view.url).origin;
    expect(await other.evaluate(`${tryView}(${JSON.stringify(base)})`)).toEqual({ held: "", ...refused });
    // The browser sends the cookie to that port too; it is half of a key.
    const given = { cookie: `${cookie!.name}=${cookie!.value}` };
    expect(sent.join("\n")).not.toMatch(/authorization|subprotocol/i);
    expect((await send(`${base}/me`, { headers: given })).status).toBe(401);
    expect(await upgradeStatus(base, { origin: base, ...given })).toBe(401);
    await context.close();
  });

  it("a browser comes back by reloading and in a second tab, but not under another name of the host", async () => {
    const { view } = await openView();
    const context = await openContext();
    const page = await openPage(view.url, context);
    const { origin, port } = new URL(view.url);
    expect(page.url()).toBe(`${origin}/`);
    await page.reload();
    await page.locator("body[data-ready=true]").waitFor();
    await openPage(origin, context);
    await openPage(`${origin}/replay`, context);
    const named = await context.newPage();
    await named.goto(`http://localhost:${port}`);
    await named.getByText("This link was used already").waitFor();
    const elsewhere = await (await openContext()).newPage();
    await elsewhere.goto(view.url);
    await elsewhere.getByText("This link was used already").waitFor();
    const link = view.createLink("read").replace("127.0.0.1", "localhost");
    await openPage(link, context);
    // What the first name has is not replaced.
    await page.reload();
    await page.getByRole("button", { name: "Share…" }).waitFor();
    await page.locator("body[data-ready=true]").waitFor();
    expect(await page.locator(".connection").textContent()).toBe("viewer 1");
  });
});
