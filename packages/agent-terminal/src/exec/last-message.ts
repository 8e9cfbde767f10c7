import { openOutputFile } from "@codex/file-lock";
import { messageOf } from "@codex/values";
import { PromptError } from "../prompt/prompt-error.js";

/** File for the last message of a run. */
export interface LastMessageFile {
  /** Replaces the content; empty after a failure. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file before the first request, so that an unwritable path fails early. @throws PromptError naming it
 * @param writable directories in which commands may create links
 */
export async function openLastMessageFile(path: string, writable: readonly string[] = []): Promise<LastMessageFile> {
  try {
    const file = await openOutputFile(path, { open: writable });
    // A pipe or a device, such as /dev/stdout, has neither a size nor positions.
    const isFile = (await file.stat()).isFile();
    return {
      async write(text) {
        if (isFile) await file.truncate(0);
        await file.write(text, isFile ? 0 : null, "utf8");
      },
      close: () => file.close(),
    };
  } catch (cause) {
    const reason = messageOf(cause);
    throw new PromptError("bad_input", `--output-last-message ${path} cannot be written: ${reason}`, { cause });
  }
}
