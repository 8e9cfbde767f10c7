import { closeSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { openOutputFileSync } from "@codex/file-lock";
import { createOrchestrator } from "@codex/orchestrator";
import { renderScreenshot, SCREENSHOT_FORMATS, type ScreenshotFormat } from "@codex/recording/screenshot";
import { messageOf } from "@codex/values";
import { CommandError, EXIT } from "../exit-codes.js";
import { readStyledScreen } from "../screen-drawing.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

export interface ScreenshotOptions extends SessionsAddress {
  output: string;
  title?: string;
}

/** Writes what the terminal of a session shows now as a picture or as text. */
export async function runScreenshotSession(id: number, options: ScreenshotOptions): Promise<void> {
  const format = formatOf(options.output);
  const address = checkSessionsAddress(options);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const screen = await readStyledScreen(orchestrator, id);
    write(options.output, await render(screen, format, options.title));
  } finally {
    await orchestrator.close();
    await closePlace();
  }
}

function formatOf(file: string): ScreenshotFormat {
  const extension = extname(file).slice(1).toLowerCase();
  const format = SCREENSHOT_FORMATS.find((known) => known === extension);
  if (format !== undefined) return format;
  const expected = SCREENSHOT_FORMATS.map((known) => `.${known}`).join(", ");
  throw new CommandError(`-o ${JSON.stringify(file)}: the name has to end in one of ${expected}`, EXIT.usage);
}

async function render(screen: Parameters<typeof renderScreenshot>[0], format: ScreenshotFormat, heading?: string) {
  try {
    return await renderScreenshot(screen, format, { heading });
  } catch (cause) {
    throw new CommandError(messageOf(cause), EXIT.failure, { cause });
  }
}

/** What a terminal shows may be secret: only the owner can read a new file. */
function write(file: string, content: string | Uint8Array): void {
  try {
    const fd = openOutputFileSync(file, { mode: 0o600 });
    try {
      writeFileSync(fd, content);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    throw new CommandError(`cannot write ${JSON.stringify(file)}: ${messageOf(cause)}`, EXIT.failure, { cause });
  }
}
