// Loaded into a command with NODE_OPTIONS: tells how large V8's space for new objects was at the end, MB.
const { writeFileSync } = require("node:fs");
const { getHeapSpaceStatistics } = require("node:v8");

process.on("exit", () => {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  writeFileSync(process.env.HEAP_FILE, String(space.space_size / 1024 / 1024));
});
