import { type PatchScript, parsePatchScript } from "@codex/apply-patch";
import { isMissing, listDirectory, MAX_IMAGE_BYTES, renderLines, toImageUrl } from "@codex/file-tools";
import { decodeText, defined, isText, messageOf } from "@codex/values";
import type { CallContext } from "../calls/call-context.js";
import type { CallToolOptions } from "../calls/call-options.js";
import { invalid, type Prepared, stopped } from "../calls/prepared.js";
import { refuseBlocked, refuseDeed } from "../calls/refusal.js";
import type { Catalog, ModelTool } from "../catalog/catalog.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import type { Selection } from "../catalog/selection.js";
import type { Decider } from "../decide/decider.js";
import type { ConnectFiles } from "../files/connect.js";
import type { HostFiles } from "../files/file-connector.js";
import { MAX_READ_FILE_BYTES } from "../limits.js";
import { readArguments } from "../resolve/arguments.js";
import { fail, type ToolCallResult } from "../result.js";
import { type FileCallPlace, placeFileCall } from "./place.js";
import { preparePatch } from "./prepare-patch.js";
import {
  DEFAULT_DEPTH,
  DEFAULT_ENTRIES,
  FILE_TOOL_SPECS,
  FILE_TOOLS,
  type FileToolName,
  fileToolSchemas,
  isFileTool,
} from "./specs.js";

/** What a call of a file tool is prepared with. */
export interface FileToolContext extends Omit<CallContext, "decider"> {
  readonly createDecider: (environment: string) => Decider;
}

type Args = Readonly<Record<string, unknown>>;
type Content = { sandbox: Parameters<HostFiles["getMetadata"]>[1]["sandbox"] };
type Read = Pick<ToolCallResult, "text"> & { images?: readonly { mediaType: string; data: string }[] };

/** The tools that an orchestrator carries out itself, with the files of an environment: in its sandbox, decided and recorded as its commands. */
export class FileTools {
  readonly #names: readonly FileToolName[];
  readonly #connect: ConnectFiles;

  constructor(names: readonly FileToolName[], connect: ConnectFiles) {
    this.#names = FILE_TOOLS.filter((name) => names.includes(name));
    this.#connect = connect;
  }

  /** Those that no executor offers itself, described for a model. */
  list(catalog: Catalog, selection: Selection): ModelTool[] {
    const environments = catalog.names(selection);
    if (environments.length === 0) return [];
    const choice = {
      [ENVIRONMENT_ID]: {
        type: "string",
        enum: environments,
        description: `Environment to use, default \`${environments[0]}\``,
      },
    };
    return this.#names
      .filter((name) => catalog.offering(name, selection).length === 0)
      .map((name) => {
        const { inputSchema, ...spec } = structuredClone(FILE_TOOL_SPECS[name]);
        if (environments.length < 2) return { ...spec, inputSchema };
        const properties = { ...(inputSchema.properties as object), ...choice };
        return { ...spec, inputSchema: { ...inputSchema, properties } };
      });
  }

  offers(name: string, catalog: Catalog, selection: Selection): name is FileToolName {
    return isFileTool(name) && this.#names.includes(name) && catalog.offering(name, selection).length === 0;
  }

  /** The patch that a script of `exec_command` is; undefined for any other. */
  findPatch(toolName: string, { cmd }: Args): PatchScript | undefined {
    if (toolName !== "exec_command" || !this.#names.includes("apply_patch")) return undefined;
    return typeof cmd === "string" ? parsePatchScript(cmd) : undefined;
  }

  /** A call of one of the tools. */
  async prepare(
    name: FileToolName,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared> {
    const named = args[ENVIRONMENT_ID];
    const environment = typeof named === "string" ? named : undefined;
    if (name === "apply_patch") {
      const read = readArguments(fileToolSchemas.apply_patch, args);
      if (read.kind === "rejected") return stopped(invalid(name, read));
      const use = { tool: name, input: { command: read.value.input } };
      return preparePatch({ text: read.value.input, environment, directories: [], use }, options, this.#with(context));
    }
    const read = readArguments(fileToolSchemas[name], args);
    if (read.kind === "rejected") return stopped(invalid(name, read));
    const placed = await placeFileCall(environment, [], options, context);
    if (placed.kind === "result") return placed;
    const { place } = placed;
    const { [ENVIRONMENT_ID]: _, ...own } = args;
    context.trail.tool(place.environment, own, undefined);
    const hooked = await context.callHooks.before({ tool: name, input: own }, place);
    if (hooked?.answer.kind === "block") {
      context.trail.blocked();
      return stopped(refuseBlocked(hooked.use, hooked.answer.reason));
    }
    const wanted = readArguments(fileToolSchemas[name], asObject(hooked?.use.input) ?? own);
    if (wanted.kind === "rejected") return stopped(invalid(name, wanted));
    const { executor, cwd, workspaceRoots } = place;
    const deed = { executor, tool: name, cwd, workspaceRoots, change: undefined };
    const decision = await context.createDecider(place.environment).fileAccess(deed, options.signal);
    if (decision.kind === "ask") return decision;
    if (decision.kind === "refused") {
      return stopped(refuseDeed(decision, { subject: `The call of \`${name}\``, effect: "Nothing was read." }));
    }
    const { sandbox } = decision.terms;
    const run = async (): Promise<ToolCallResult> => {
      const unrecorded = await context.trail.sending(sandbox);
      if (unrecorded !== undefined) return unrecorded;
      context.progress.isSent = true;
      const result = await this.#read(name, wanted.value, place, { sandbox });
      context.trail.answered(result);
      return context.callHooks.after(hooked?.use, result);
    };
    return { kind: "ready", run: async () => place.locate(await run()) };
  }

  /** A script that is a patch, which is carried out instead. Hooks are asked about the script, as in Codex. */
  async prepareScript(
    script: PatchScript,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared> {
    const { cmd, workdir, [ENVIRONMENT_ID]: named } = args;
    if (script.kind === "refused") return stopped(fail("invalid_arguments", script.reason));
    return preparePatch(
      {
        text: script.text,
        environment: typeof named === "string" ? named : undefined,
        directories: [typeof workdir === "string" && workdir !== "" ? workdir : undefined, script.directory],
        use: { tool: "Bash", input: { command: cmd } },
        isScript: true,
      },
      options,
      this.#with(context),
    );
  }

  #with(context: FileToolContext) {
    return { ...context, connect: this.#connect };
  }

  async #read(
    name: Exclude<FileToolName, "apply_patch">,
    args: { path?: string | undefined } & ReadArgs,
    { executor, resolve }: FileCallPlace,
    sandbox: Content,
  ): Promise<ToolCallResult> {
    const path = resolve(args.path ?? ".");
    try {
      const files = await this.#connect(executor);
      const read =
        name === "view_image"
          ? await viewImage(path, files, sandbox)
          : name === "read_file"
            ? await readFile(path, files, sandbox, args)
            : await listDir(path, files, sandbox, args);
      if ("problem" in read) return fail("tool_failed", `${name}: \`${path}\` ${read.problem}.`);
      return { status: "success", isError: false, structured: undefined, ...read };
    } catch (error) {
      const problem = isMissing(error) ? "does not exist" : `cannot be read: ${messageOf(error)}`;
      return fail("tool_failed", `${name}: \`${path}\` ${problem}.`);
    }
  }
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

interface ReadArgs {
  offset?: number | undefined;
  limit?: number | undefined;
  depth?: number | undefined;
}

type Problem = { problem: string };

async function readWhole(
  path: string,
  files: HostFiles,
  sandbox: Content,
  most: number,
): Promise<Uint8Array | Problem> {
  const { isFile, isDirectory, size } = await files.getMetadata(path, sandbox);
  if (!isFile) return { problem: isDirectory ? "is a directory, not a file" : "is not a file" };
  if (size > most) return { problem: `has ${size} bytes, and at most ${most} are read` };
  return files.readFile(path, { ...sandbox, size });
}

async function viewImage(path: string, files: HostFiles, sandbox: Content): Promise<Read | Problem> {
  const bytes = await readWhole(path, files, sandbox, MAX_IMAGE_BYTES);
  if ("problem" in bytes) return bytes;
  const made = toImageUrl(bytes);
  if ("problem" in made) return made;
  const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(made.url) ?? [];
  return { text: `The picture ${path} (${mediaType}, ${bytes.length} bytes).`, images: [{ mediaType, data }] };
}

async function readFile(
  path: string,
  files: HostFiles,
  sandbox: Content,
  { offset, limit }: ReadArgs,
): Promise<Read | Problem> {
  const bytes = await readWhole(path, files, sandbox, MAX_READ_FILE_BYTES);
  if ("problem" in bytes) return bytes;
  if (!isText(bytes)) return { problem: "is not text" };
  return renderLines(decodeText(bytes), defined({ offset, limit }));
}

async function listDir(
  path: string,
  files: HostFiles,
  sandbox: Content,
  { depth = DEFAULT_DEPTH, limit = DEFAULT_ENTRIES }: ReadArgs,
): Promise<Read | Problem> {
  const { isDirectory } = await files.getMetadata(path, sandbox);
  if (!isDirectory) return { problem: "is not a directory" };
  const read = async (directory: string) =>
    (await files.readDirectory(directory, sandbox)).map(({ fileName, ...kind }) => ({ name: fileName, ...kind }));
  return { text: await listDirectory(path, read, { depth, limit }) };
}
