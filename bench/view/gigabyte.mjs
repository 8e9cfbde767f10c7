// A program that writes 1 GB of random bytes, with its terminal open in a page: what is left of the page and of this process.
// `node bench/view/gigabyte.mjs`; build first.
import { createLocalOrchestrator } from "@codex/local";
import { attachView } from "@codex/view";
import { startChromium } from "./chromium.mjs";

const BYTES = 1_000_000_000;
const MEGABYTE = 1e6;

const browser = await startChromium();
if (browser === undefined) throw new Error("there is no Chromium here");
const orchestrator = await createLocalOrchestrator({
  policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
  defaults: { login: false, shell: "sh" },
});
const view = await attachView(orchestrator);
const page = await browser.open(view.url);
try {
  await page.until("document.body?.dataset.ready === 'true'");
  const started = await orchestrator.callTool("exec_command", {
    cmd: `read go; head -c ${BYTES} /dev/urandom`,
    stdin: "open",
    yield_time_ms: 250,
  });
  await page.until("document.querySelector('button.session') !== null");
  await page.evaluate("document.querySelector('button.session').click()");
  await page.until("document.querySelector('section.terminal .xterm-rows') !== null");
  const title = await page.evaluate("document.title");
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 50);
  const begin = performance.now();
  const session_id = started.structured.processId;
  const ended = await orchestrator.callTool("write_stdin", { session_id, chars: "go\n", yield_time_ms: 120_000 });
  clearInterval(watch);
  const seconds = (performance.now() - begin) / 1000;
  await page.until(`Number(document.querySelector('section.terminal').dataset.shown) === ${BYTES}`, 60_000);
  await page.send("HeapProfiler.collectGarbage");
  const heap = await page.evaluate("performance.memory.usedJSHeapSize");
  const titleAfter = await page.evaluate("document.title");
  const facts = await page.evaluate("document.querySelector('section.terminal .line').textContent");
  console.log(
    `${ended.structured.range.to} bytes, ${JSON.stringify(ended.structured.outcome)}, ${seconds.toFixed(1)} s`,
  );
  console.log(
    `this process: at most ${Math.round(most / MEGABYTE)} MB; heap of the page: ${Math.round(heap / MEGABYTE)} MB`,
  );
  console.log(`page: ${facts}`);
  console.log(`title: ${JSON.stringify(title)} before, ${JSON.stringify(titleAfter)} after`);
  const next = await orchestrator.callTool("exec_command", { cmd: "echo and on" });
  console.log(`next command: ${next.structured.outcome.code === 0 ? "ran" : next.text}`);
  if (title !== titleAfter || ended.structured.range.to !== BYTES) process.exitCode = 1;
} finally {
  await page.close();
  await view.close();
  await orchestrator.close();
  await browser.close();
}
