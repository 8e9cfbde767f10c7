// Ratios against the raw primitives, taken in one run. `node bench/main.mjs [name…]`; build first.
const all = ["round-trip", "echo", "throughput", "start", "policy", "sandbox"];
const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : all) {
  if (!all.includes(name)) {
    console.error(`no bench ${JSON.stringify(name)}; there are ${all.join(", ")}`);
    process.exit(2);
  }
  const { run } = await import(`./${name}.mjs`);
  await run();
}
