import { StringDecoder } from "node:string_decoder";
import { visible } from "@codex/agent-terminal/text";
import { visibleText } from "@codex/policy/display";

/** Writes a notice of this command to stderr, on a separate line where a program has the terminal. */
export function say(line: string): void {
  const isShared = process.stderr.isTTY && process.stdin.isTTY && process.stdin.isRaw;
  process.stderr.write(`${isShared ? "\r\n" : ""}codex: ${visible(line)}\n`);
}

/** Writes to stdout what others may have written: on a terminal it cannot control it, elsewhere it is unchanged. */
export const print = (text: string): boolean => process.stdout.write(forTerminal(process.stdout)(text));

/** `print` with a line feed at the end. */
export const printLine = (line: string): boolean => print(line.endsWith("\n") ? line : `${line}\n`);

/** `print` as JSON. */
export const printJson = (value: unknown, indent: number | undefined = 2): boolean =>
  print(`${JSON.stringify(value, null, indent)}\n`);

/** Returns a function for text that is written to a stream: on a terminal what would control it is escaped. */
export const forTerminal = (stream: { isTTY?: boolean }): ((text: string) => string) =>
  stream.isTTY === true ? visibleText : (text) => text;

/** The same for bytes of a program, in pieces. */
export function passToTerminal(stream: NodeJS.WritableStream & { isTTY?: boolean }): (bytes: Uint8Array) => void {
  if (stream.isTTY !== true) return (bytes) => void stream.write(bytes);
  const decoder = new StringDecoder();
  let last = "";
  return (bytes) => {
    // The line feed after a carriage return may be in the next piece.
    const text = last + decoder.write(Buffer.from(bytes));
    last = text.endsWith("\r") ? "\r" : "";
    stream.write(visibleText(text.slice(0, text.length - last.length)));
  };
}
