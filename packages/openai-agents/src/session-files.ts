import type { FileAccessOptions, OrchestratorFiles } from "@codex/orchestrator";
import { messageOf } from "@codex/values";
import { type ApplyPatchResult, applyDiff, type Editor, type ToolOutputImage } from "@openai/agents";
import type { SandboxSession } from "@openai/agents/sandbox";
import { MAX_IMAGE_BYTES } from "./limits.js";

/** The file methods of a sandbox session. */
export type SessionFiles = Required<
  Pick<SandboxSession, "readFile" | "listDir" | "pathExists" | "directoryExists" | "viewImage" | "createEditor">
>;

/** Paths are absolute, or relative to the directory of the session. Methods reject when the policy refuses. */
export function createSessionFiles(files: OrchestratorFiles, place: FileAccessOptions): SessionFiles {
  return {
    async readFile({ path, runAs, maxBytes }) {
      checkUser(runAs);
      const bytes = await files.read(path, place);
      return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
    },
    async listDir({ path, runAs }) {
      checkUser(runAs);
      const entries = await files.list(path, place);
      return entries.map(({ name, kind }) => ({
        name,
        path: /[\\/]$/.test(path) ? `${path}${name}` : `${path}/${name}`,
        type: kind === "directory" ? "dir" : kind,
      }));
    },
    async pathExists(path, runAs) {
      checkUser(runAs);
      return (await files.stat(path, place)) !== undefined;
    },
    async directoryExists(path, runAs) {
      checkUser(runAs);
      return (await files.stat(path, place))?.kind === "directory";
    },
    async viewImage({ path, runAs }): Promise<ToolOutputImage> {
      checkUser(runAs);
      const found = await files.stat(path, place);
      // The SDK matches these messages, and shows its model a text of its own.
      if (found === undefined) throw new Error(`image \`${path}\` was not found`);
      if (found.kind !== "file") throw new Error(`\`${path}\` is not a file`);
      if (found.size > MAX_IMAGE_BYTES) throw new Error(`image \`${path}\` exceeds the 10 MB limit`);
      const data = Uint8Array.from(await files.read(path, place));
      const mediaType = findMediaType(data);
      if (mediaType === undefined) throw new Error(`unsupported image format: \`${path}\``);
      return { type: "image", image: { data, mediaType } };
    },
    createEditor(runAs) {
      checkUser(runAs);
      return createEditor(files, place);
    },
  };
}

/** @throws Error for any user: commands run, and files are accessed, as the executor's user */
export function checkUser(runAs: string | undefined): void {
  if (runAs !== undefined) throw new Error(`\`runAs\` ${JSON.stringify(runAs)} is not supported: nothing was done`);
}

function createEditor(files: OrchestratorFiles, place: FileAccessOptions): Editor {
  /** Edits are made one at a time: each starts from the result of the previous one. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (edit: () => Promise<string>): Promise<ApplyPatchResult> => {
    const edited = last.then(edit).then(
      (output): ApplyPatchResult => ({ status: "completed", output }),
      (error: unknown): ApplyPatchResult => ({ status: "failed", output: messageOf(error) }),
    );
    last = edited;
    return edited;
  };
  return {
    createFile: ({ path, diff }) =>
      inTurn(async () => {
        if ((await files.stat(path, place)) !== undefined) throw new Error(`\`${path}\` exists`);
        await files.write(path, encode(applyDiff("", diff, "create")), place);
        return `Created ${path}`;
      }),
    updateFile: ({ path, diff, moveTo }) =>
      inTurn(async () => {
        const text = decode(path, await files.read(path, place));
        const changed = diff === "" ? text : applyDiff(text, diff);
        if (moveTo === undefined || moveTo === path) {
          await files.write(path, encode(changed), place);
          return `Updated ${path}`;
        }
        if ((await files.stat(moveTo, place)) !== undefined) throw new Error(`\`${moveTo}\` exists`);
        await files.write(moveTo, encode(changed), place);
        await files.remove(path, place).catch((error: unknown) => {
          throw new Error(`\`${moveTo}\` was written, and \`${path}\` is still there: ${messageOf(error)}`);
        });
        return `Moved ${path} to ${moveTo}`;
      }),
    deleteFile: ({ path }) =>
      inTurn(async () => {
        if (!(await files.remove(path, place))) throw new Error(`\`${path}\` was not found`);
        return `Deleted ${path}`;
      }),
  };
}

const encode = (text: string) => new TextEncoder().encode(text);

/** @throws Error for a file that is not UTF-8: an edit would damage it */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`\`${path}\` is not UTF-8 text`);
  }
}

/** Determined by the first bytes, as extensions may be wrong. */
function findMediaType(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return start.startsWith("RIFF") && start.startsWith("WEBP", 8) ? "image/webp" : undefined;
}
