// Ratios against the raw primitives, taken in one run. `node bench/main.mjs [name…]`; build first. With
// `--vs 'command of another exec-server'` side by side with that one: see peer.mjs.
const all = [
  "round-trip",
  "echo",
  "throughput",
  "start",
  "policy",
  "sandbox",
  "gate",
  "network",
  "rendezvous",
  "relayed-terminal",
  "faces",
  "view",
];
const args = process.argv.slice(2);
const wanted = args.length > 0 ? args : all;
if (args.includes("--vs")) await import("./peer.mjs");
else for (const name of wanted) await runOne(name);

async function runOne(name) {
  if (!all.includes(name)) {
    console.error(`no bench ${JSON.stringify(name)}; there are ${all.join(", ")}`);
    process.exit(2);
  }
  const { run } = await import(`./${name}.mjs`);
  await run();
}
