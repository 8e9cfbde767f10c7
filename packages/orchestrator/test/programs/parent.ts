import { spawnExecutor } from "../../src/connect/child.js";

// Starts the executor it is told to, says its pid once that is ready, and stays.
const executor = process.argv[2] ?? "";
const child = await spawnExecutor({
  command: process.execPath,
  args: [executor],
  onStderr: () => console.log(child.pid),
});
