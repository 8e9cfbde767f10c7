import { listBatches } from "../../../dist/operations/list-directory.js";

/** Tells how many entries the directory of its argument has, in batches. */
await new Promise((resolve) => setImmediate(resolve)); // from here on Node tells of what is synchronous
const sizes = [];
for await (const batch of listBatches(process.argv[2])) sizes.push(batch.length);
process.stdout.write(JSON.stringify(sizes));
