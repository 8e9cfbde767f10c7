import { createAuditLog, createFileSink } from "../../src/index.js";

// Appends records to a log: FILE COUNT NAME.
const [file = "", count = "0", name = ""] = process.argv.slice(2);
const log = createAuditLog({
  sink: createFileSink(file),
  onProblem: (message) => {
    console.log(message);
    process.exitCode = 1;
  },
});
for (let index = 0; index < Number(count); index++) {
  const written = log.record({ type: "result", call: `${name}${index}`, status: "success" }).catch(() => {});
  // Some alone, some together.
  if (index % 3 === 0) await written;
}
await log.flush();
