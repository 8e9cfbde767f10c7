/** Entry point of `pnpm faults …`, `pnpm faults oracle …` and `pnpm faults relay …`; each parses the rest of the command line itself. */
const [, , word = ""] = process.argv;
if (["oracle", "relay"].includes(word)) process.argv.splice(2, 1);
if (word === "oracle") {
  await import("./oracle/main.js");
} else if (word === "relay") {
  await import("./rendezvous/main.js");
} else {
  await import("./faults/main.js");
}
