import axe from "axe-core";
import type { Page } from "playwright-core";

interface AxeWindow {
  axe: { run(): Promise<{ violations: { id: string; nodes: { target: unknown }[] }[] }> };
}

/** Violations of the page, each with the elements. The script comes as from a debugger, which the policy of the page allows. */
export async function findViolations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe.source });
  const { violations } = await page.evaluate(() => (globalThis as unknown as AxeWindow).axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(", ")}`);
}
