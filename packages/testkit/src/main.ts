/** Entry point of `pnpm faults …` and `pnpm faults oracle …`; each parses the rest of the command line itself. */
if (process.argv[2] === "oracle") {
  process.argv.splice(2, 1);
  await import("./oracle/main.js");
} else {
  await import("./faults/main.js");
}
