import { open } from "node:fs/promises";
import { PromptError } from "../prompt/prompt-error.js";

/** The file that gets the last message of a run. */
export interface LastMessageFile {
  /** Replaces its content; an empty text after a failure. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file before anything is asked, so that a path that cannot be written is known at once. @throws PromptError naming it */
export async function openLastMessageFile(path: string): Promise<LastMessageFile> {
  try {
    const file = await open(path, "w");
    return {
      async write(text) {
        await file.truncate(0);
        await file.write(text, 0, "utf8");
      },
      close: () => file.close(),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PromptError("bad_input", `--output-last-message ${path} cannot be written: ${reason}`, { cause });
  }
}
