import { decodeEscapes } from "./escapes.js";
import { UNKNOWN } from "./unknown.js";

/** What a command prints, as far as its words say; undefined for programs other than `echo`, `printf`, `cat` and `tee`. */
export function getOutput([program = "", ...args]: readonly string[], input: string | undefined): string | undefined {
  if (program === "tee" || (program === "cat" && args.every((arg) => arg === "-"))) return input ?? UNKNOWN;
  if (program === "cat") return args.join("\n") + UNKNOWN;
  if (program !== "echo" && program !== "printf") return undefined;
  const isEcho = program === "echo";
  const words = isEcho ? args.slice(args.findIndex((arg) => !/^-[neE]+$/.test(arg))) : args;
  const text = words.join(isEcho ? " " : "\n");
  if (!text.includes("\\")) return isEcho || !text.includes("%") ? `${text}\n` : text + UNKNOWN;
  return decodeEscapes(text) + (text.includes("%") || isEcho ? UNKNOWN : "");
}
