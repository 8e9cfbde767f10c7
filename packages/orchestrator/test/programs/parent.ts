import { spawnExecutor } from "../../src/connect/child.js";

// Starts the given executor, prints its pid once that is ready, and keeps running.
const executor = process.argv[2] ?? "";
const child = await spawnExecutor({
  command: process.execPath,
  args: [executor],
  onStderr: () => console.log(child.pid),
});
