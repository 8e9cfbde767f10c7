/** Entry point of `pnpm faults …`, `pnpm faults oracle …`, `pnpm faults relay …`, `pnpm simulate …` and `pnpm faces:matrix …`; each parses the rest of the command line itself. */
const [, , word = ""] = process.argv;
if (["oracle", "relay", "simulate", "faces"].includes(word)) process.argv.splice(2, 1);
if (word === "oracle") {
  await import("./oracle/main.js");
} else if (word === "relay") {
  await import("./rendezvous/main.js");
} else if (word === "simulate") {
  await import("./rendezvous/simulate-main.js");
} else if (word === "faces") {
  await import("./faces/main.js");
} else {
  await import("./faults/main.js");
}
