import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

const PROGRAM = "/usr/bin/chromium";

/** Undefined: the tests that need a browser are skipped, and this says why. */
export const noBrowser: string | undefined = existsSync(PROGRAM) ? undefined : `there is no ${PROGRAM}`;

let browser: Promise<Browser> | undefined;

afterAll(async () => {
  await (await browser)?.close();
});

/** A browser with nothing of the others: cookies, storage. */
export async function openContext(options: Parameters<Browser["newContext"]>[0] = {}): Promise<BrowserContext> {
  browser ??= chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox"] });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(20_000);
  onTestFinished(() => context.close());
  return context;
}

/** A page that shows a view, once it shows everything. */
export async function openPage(url: string, context?: BrowserContext): Promise<Page> {
  const page = await (context ?? (await openContext())).newPage();
  await page.goto(url);
  await page.locator("body[data-ready=true]").waitFor();
  return page;
}
