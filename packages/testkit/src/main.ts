/** Entry point of `pnpm faults …`, `pnpm faults oracle …`, `pnpm faults relay …` and `pnpm simulate …`; each parses the rest of the command line itself. */
const [, , word = ""] = process.argv;
if (["oracle", "relay", "simulate"].includes(word)) process.argv.splice(2, 1);
if (word === "oracle") {
  await import("./oracle/main.js");
} else if (word === "relay") {
  await import("./rendezvous/main.js");
} else if (word === "simulate") {
  await import("./rendezvous/simulate-main.js");
} else {
  await import("./faults/main.js");
}
