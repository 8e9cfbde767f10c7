/** Verdicts as the table shows them. */
const LABELS = { passed: "passed", differs: "differs deliberately", failed: "FAILED", skipped: "skipped" };

/** @param {import("./run-case.mjs").Result[]} results */
export function renderTable(results) {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results
    .map(({ name, verdict, detail, mayDiffer }) => {
      const why = verdict === "differs" ? `${detail} (${mayDiffer})` : detail;
      return `${name.padEnd(width)}  ${LABELS[verdict].padEnd(LABELS.differs.length)}  ${why ?? ""}`.trimEnd();
    })
    .join("\n");
}

/** @param {import("./run-case.mjs").Result[]} results */
export function count(results) {
  const counts = { passed: 0, differs: 0, failed: 0, skipped: 0 };
  for (const { verdict } of results) counts[verdict] += 1;
  return counts;
}

/** @param {import("./run-case.mjs").Result[]} results */
export function renderSummary(results, durationMs) {
  const { passed, differs, failed, skipped } = count(results);
  const seconds = (durationMs / 1000).toFixed(1);
  const parts = `${passed} passed, ${differs} differ deliberately, ${failed} failed, ${skipped} skipped`;
  return `${results.length} cases: ${parts} (${seconds} s)`;
}
