import type { PatchScript } from "@codex/apply-patch";
import type { Sandbox } from "@codex/executor-protocol";
import { isMissing, listDirectory, MAX_IMAGE_BYTES, renderLines, toImageUrl } from "@codex/file-tools";
import { decodeText, defined, isText, messageOf } from "@codex/values";
import type { CallToolOptions } from "../calls/call-options.js";
import { invalid, type Prepared, stopped } from "../calls/prepared.js";
import { refuseBlocked, refuseDeed } from "../calls/refusal.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import type { ConnectFiles } from "../files/connect.js";
import type { HostFiles } from "../files/file-connector.js";
import { MAX_READ_FILE_BYTES } from "../limits.js";
import { readArguments } from "../resolve/arguments.js";
import { fail, type ToolCallResult } from "../result.js";
import type { CarryOutContext } from "./context.js";
import { type FileCallPlace, placeFileCall } from "./place.js";
import { preparePatch } from "./prepare-patch.js";
import { fileToolSchemas } from "./schemas.js";
import { DEFAULT_DEPTH, DEFAULT_ENTRIES, type FileToolName } from "./specs.js";

type Content = { sandbox: Sandbox | null };
type Read = Pick<ToolCallResult, "text"> & { images?: readonly { mediaType: string; data: string }[] };

/** A call of one of the tools. */
export async function prepareFileTool(
  name: FileToolName,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CarryOutContext,
): Promise<Prepared> {
  const named = args[ENVIRONMENT_ID];
  const environment = typeof named === "string" ? named : undefined;
  if (name === "apply_patch") {
    const given = readArguments(fileToolSchemas.apply_patch, args);
    if (given.kind === "rejected") return stopped(invalid(name, given));
    const use = { tool: name, input: { command: given.value.input } };
    return preparePatch({ text: given.value.input, environment, directories: [], use }, options, context);
  }
  const given = readArguments(fileToolSchemas[name], args);
  if (given.kind === "rejected") return stopped(invalid(name, given));
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
  const sandbox = forReading(decision.terms.sandbox);
  const run = async (): Promise<ToolCallResult> => {
    const unrecorded = await context.trail.sending(sandbox);
    if (unrecorded !== undefined) return unrecorded;
    context.progress.isSent = true;
    const result = await read(name, wanted.value, place, { sandbox }, context.connect);
    context.trail.answered(result);
    return context.callHooks.after(hooked?.use, result);
  };
  return { kind: "ready", run: async () => place.locate(await run()) };
}

/** A script that is a patch, which is carried out instead. Hooks are asked about the script, as in Codex. */
export async function prepareScript(
  script: PatchScript,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CarryOutContext,
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
    context,
  );
}

async function read(
  name: Exclude<FileToolName, "apply_patch">,
  args: { path?: string | undefined } & ReadArgs,
  { executor, resolve }: FileCallPlace,
  sandbox: Content,
  connect: ConnectFiles,
): Promise<ToolCallResult> {
  const path = resolve(args.path ?? ".");
  try {
    const files = await connect(executor);
    const found =
      name === "view_image"
        ? await viewImage(path, files, sandbox)
        : name === "read_file"
          ? await readFile(path, files, sandbox, args)
          : await listDir(path, files, sandbox, args);
    if ("problem" in found) return fail("tool_failed", `${name}: \`${path}\` ${found.problem}.`);
    return { status: "success", isError: false, structured: undefined, ...found };
  } catch (error) {
    const problem = isMissing(error) ? "does not exist" : `cannot be read: ${messageOf(error)}`;
    return fail("tool_failed", `${name}: \`${path}\` ${problem}.`);
  }
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

interface ReadArgs {
  offset?: number | undefined;
  limit?: number | undefined;
  depth?: number | undefined;
}

/** Where nothing may be written no names are reserved, which a listing would show. */
function forReading(sandbox: Sandbox | null): Sandbox | null {
  if (sandbox === null || sandbox.permissions.type !== "managed") return sandbox;
  const { file_system: files, ...permissions } = sandbox.permissions;
  if (files.type !== "restricted") return sandbox;
  const entries = files.entries.map((entry) =>
    entry.access === "write" ? { ...entry, access: "read" as const } : entry,
  );
  return { ...sandbox, permissions: { ...permissions, file_system: { ...files, entries } } };
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
