import {
  type ClientApp,
  methods,
  type ReadTextFileRequest,
  RequestError,
  type WriteTextFileRequest,
} from "@agentclientprotocol/sdk";
import { type Orchestrator, OrchestratorError } from "@codex/orchestrator";
import { messageOf } from "@codex/values";

/** Options of `acpFiles`. */
export interface AcpFilesOptions {
  /** Environment to use. Default: the orchestrator's first. */
  environment?: string;
  /** The directory of the agent's work, an absolute path on the environment's host: what may be written is found from it. */
  cwd?: string;
  /** Client name, where several clients share the orchestrator. */
  client?: string;
}

/**
 * The two file methods of an ACP client, version 1. They throw a RequestError: −32002 for a file that is not there, −32602 for a line that is
 * none, −32603 with the reason for what was refused or has failed.
 */
export interface AcpFiles {
  /** The text from a line on, which counts from 1, and at most so many lines. */
  readTextFile(request: ReadTextFileRequest): Promise<{ content: string }>;
  /** Creates a file, with missing directories, or replaces its content. */
  writeTextFile(request: WriteTextFileRequest): Promise<Record<string, never>>;
  /** Adds the two handlers to a client: `files.addTo(client({ name: "editor" }))`. */
  addTo(app: Pick<ClientApp, "onRequest">): void;
}

/** Files on the host of an executor, for the agents of an ACP client. Reading and writing is decided, held and recorded as by the tools for files. */
export function acpFiles(orchestrator: Pick<Orchestrator, "files">, options: AcpFilesOptions = {}): AcpFiles {
  const { files } = orchestrator;
  const own: AcpFiles = {
    async readTextFile({ path, line, limit }) {
      for (const [name, value, least] of [["line", line, 1] as const, ["limit", limit, 0] as const]) {
        if (value != null && (!Number.isInteger(value) || value < least)) {
          throw new RequestError(-32602, `\`${name}\` is ${value}; expected a whole number from ${least}`);
        }
      }
      const content = decode(path, await reporting(path, files.read(path, options)));
      return { content: selectLines(content, line ?? 1, limit ?? Number.POSITIVE_INFINITY) };
    },
    async writeTextFile({ path, content }) {
      await reporting(path, files.write(path, Buffer.from(content, "utf8"), options));
      return {};
    },
    addTo(app) {
      const { fs } = methods.client;
      app.onRequest(fs.readTextFile, ({ params }) => own.readTextFile(params));
      app.onRequest(fs.writeTextFile, ({ params }) => own.writeTextFile(params));
    },
  };
  return own;
}

/** What is no text is not changed into some: an agent would write it back. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RequestError(-32603, `\`${path}\` is not text in UTF-8`, { code: "not_text" });
  }
}

/** Lines keep their ends. */
function selectLines(text: string, first: number, count: number): string {
  if (first === 1 && count === Number.POSITIVE_INFINITY) return text;
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.slice(first - 1, first - 1 + count).join("");
}

async function reporting<T>(path: string, access: Promise<T>): Promise<T> {
  try {
    return await access;
  } catch (error) {
    if (!(error instanceof OrchestratorError)) throw new RequestError(-32603, messageOf(error));
    if (error.code === "not_found") throw RequestError.resourceNotFound(path);
    throw new RequestError(-32603, error.message, { code: error.code });
  }
}
