import { type Clock, systemClock } from "@codex/clock";
import { decodeText } from "@codex/values";
import { MAX_PROMPT_BYTES, STDIN_NOTICE_MS } from "../limits.js";
import { PromptError } from "./prompt-error.js";

/** Standard input. */
export interface PromptInput extends AsyncIterable<Uint8Array> {
  /** A terminal, which is not read by default. */
  readonly isTTY?: boolean;
}

/** Sources of a prompt. */
export interface PromptSources {
  /** The argument; `-` or undefined: stdin is the prompt. */
  readonly argument: string | undefined;
  /** Standard input; undefined: not read. */
  readonly stdin: PromptInput | undefined;
  /** Shows a notice while waiting. */
  readonly say: (notice: string) => void;
  readonly clock?: Clock;
}

/**
 * Reads the prompt: the argument, or stdin, or the argument followed by stdin in a `<stdin>` block.
 * @throws PromptError when it is missing, too large or not text: UTF-8, or UTF-16 with a byte order mark
 */
export async function readPrompt({ argument, stdin, say, clock = systemClock }: PromptSources): Promise<string> {
  const isWholeInput = argument === undefined || argument === "-";
  if (isWholeInput && (stdin === undefined || (stdin.isTTY === true && argument === undefined))) {
    throw new PromptError("no_prompt", "there is no prompt: give it as an argument, or over stdin");
  }
  const waited = isWholeInput ? "the prompt on stdin" : "the end of stdin, which is sent with the prompt";
  const input =
    stdin === undefined || (!isWholeInput && stdin.isTTY === true) ? "" : await read(stdin, waited, say, clock);
  if (isWholeInput) {
    if (input.trim() === "") throw new PromptError("no_prompt", "there is no prompt: stdin was empty");
    return input;
  }
  if (argument.trim() === "" && input.trim() === "") throw new PromptError("no_prompt", "the prompt is empty");
  return input.trim() === "" ? argument : `${argument}\n\n<stdin>\n${frameInput(input)}\n</stdin>`;
}

async function read(stdin: PromptInput, waited: string, say: (notice: string) => void, clock: Clock): Promise<string> {
  const cancelNotice = clock.after(STDIN_NOTICE_MS, () => say(`waiting for ${waited}; --no-stdin does not read it`));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stdin) {
      bytes += chunk.byteLength;
      if (bytes > MAX_PROMPT_BYTES) {
        throw new PromptError(
          "bad_input",
          `stdin has more than ${MAX_PROMPT_BYTES} bytes, the most that a prompt may have`,
        );
      }
      chunks.push(chunk);
    }
  } finally {
    cancelNotice();
  }
  try {
    return decodeText(Buffer.concat(chunks), { fatal: true });
  } catch (cause) {
    throw new PromptError("bad_input", "stdin is neither UTF-8 nor, by its byte order mark, UTF-16 text", { cause });
  }
}

/** Escapes untrusted input, so that it cannot end its block. Other tags are kept, as they may be part of the content. */
const frameInput = (input: string): string => input.replace(/\n$/, "").replace(/<(?=\s*(?:\/\s*)?stdin\b)/gi, "&lt;");
