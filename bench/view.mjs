// What a view costs: bytes a second of a program that writes as fast as it can, without a view, with one that no page shows, and
// with one whose terminal is open in a page of Chromium.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalOrchestrator } from "@codex/local";
import { attachView } from "@codex/view";
import { interleave, median, printTable } from "./harness.mjs";
import { startChromium } from "./view/chromium.mjs";

const ROUNDS = Number(process.env.VIEW_ROUNDS ?? 12);
/** Of lines, in a file. */
const MB = 50;
const TIMES = { terminal: 1, pipes: 10 };

export async function run() {
  const directory = await mkdtemp(join(tmpdir(), "view bench "));
  const file = join(directory, "lines");
  const line = `${"The quick brown fox jumps over the lazy dog. ".repeat(2).slice(0, 78)}\n`;
  await writeFile(file, line.repeat(Math.ceil((MB * 1e6) / line.length)));
  const browser = await startChromium();
  try {
    if (browser !== undefined) await measureLoading(browser);
    const subjects = {
      "without a view": await openSubject(file),
      "a view, no viewer": await openSubject(file, { view: true }),
      ...(browser === undefined ? {} : { "a view, one viewer": await openSubject(file, { view: true, browser }) }),
    };
    for (const [stdio, times] of Object.entries(TIMES)) {
      const runs = Object.fromEntries(
        Object.entries(subjects).map(([name, { write }]) => [name, () => write(stdio === "terminal", times)]),
      );
      await interleave(runs, 1);
      const taken = await interleave(runs, ROUNDS);
      const raw = taken["without a view"];
      const rows = Object.entries(taken).map(([name, values]) => ({
        name,
        "MB/s": Math.round((MB * times * 1e3) / median(values)),
        "of without": (median(raw) / median(values)).toFixed(2),
        "of without, best": (Math.min(...raw) / Math.min(...values)).toFixed(2),
        "median of pairs": median(values.map((value, at) => raw[at] / value)).toFixed(2),
      }));
      printTable(`${MB * times} MB, ${stdio}, ${ROUNDS} rounds`, rows);
    }
    for (const { close } of Object.values(subjects)) await close();
  } finally {
    await browser?.close();
    await rm(directory, { recursive: true });
  }
}

/** From the navigation until everything is shown and can be used, and what was transferred, with nothing cached. */
async function measureLoading(browser) {
  const { orchestrator, view } = await openOrchestrator(true);
  const loaded = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const page = await browser.open(view.createLink("answer"));
    await page.until("document.body?.dataset.ready === 'true'");
    const entries = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]";
    const bytes = await page.evaluate(`${entries}.reduce((sum, { transferSize }) => sum + transferSize, 0)`);
    loaded.push({ ms: await page.evaluate("performance.getEntriesByName('ready')[0].startTime"), bytes });
    await page.close();
  }
  const ms = loaded.slice(1).map((one) => one.ms);
  printTable(`loading the page, ${ROUNDS} times`, [
    { "median ms": Math.round(median(ms)), "best ms": Math.round(Math.min(...ms)), bytes: loaded[1].bytes },
  ]);
  await view.close();
  await orchestrator.close();
}

async function openOrchestrator(hasView) {
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    defaults: { login: false, shell: "sh" },
  });
  return { orchestrator, view: hasView ? await attachView(orchestrator) : undefined };
}

/** `write` resolves with the milliseconds of a call whose program writes the file. */
async function openSubject(file, { view: hasView = false, browser } = {}) {
  const { orchestrator, view } = await openOrchestrator(hasView);
  const page = await browser?.open(view.url);
  await page?.until("document.body?.dataset.ready === 'true'");
  let count = 0;
  return {
    async write(tty, times) {
      count += 1;
      const begin = `read go${count}; exec cat ${`'${file}' `.repeat(times)}`;
      const args = { cmd: begin, tty, stdin: "open", yield_time_ms: 250 };
      const started = await orchestrator.callTool("exec_command", args);
      const session_id = started.structured.processId;
      const button = `[...document.querySelectorAll("button.session")].find(({ title }) => title.includes("go${count};"))`;
      await page?.until(`${button} !== undefined`);
      await page?.evaluate(`${button}.click()`);
      await page?.until("document.querySelector('section.terminal .xterm-rows') !== null");
      const start = performance.now();
      const wait = (chars) => orchestrator.callTool("write_stdin", { session_id, chars, yield_time_ms: 30_000 });
      let ended = await wait("go\n");
      while (ended.structured?.outcome?.kind === "running") ended = await wait("");
      const ms = performance.now() - start;
      if (ended.structured?.outcome?.kind !== "exited") throw new Error("the program was not followed to its end");
      await page?.until("document.querySelector('section.terminal .facts').textContent.includes('exit code')");
      await page?.evaluate("document.querySelector('section.terminal [aria-label=\"Close terminal\"]').click()");
      return ms;
    },
    async close() {
      await page?.close();
      await view?.close();
      await orchestrator.close();
    },
  };
}
