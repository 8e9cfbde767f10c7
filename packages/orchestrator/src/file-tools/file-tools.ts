import { type PatchScript, parsePatchScript } from "@codex/apply-patch";
import type { CallToolOptions } from "../calls/call-options.js";
import type { FileToolContext, FileToolPort } from "../calls/file-tool-port.js";
import type { Prepared } from "../calls/prepared.js";
import { type Catalog, ENVIRONMENT_ID, type ModelTool } from "../catalog/catalog.js";
import type { Selection } from "../catalog/selection.js";
import type { ConnectFiles } from "../files/connect.js";
import { FILE_TOOL_SPECS, FILE_TOOLS, type FileToolName, isFileTool } from "./specs.js";

/** The tools that an orchestrator carries out itself, with the files of an environment: in its sandbox, decided and recorded as its commands. */
export class FileTools implements FileToolPort {
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

  offers(name: string, catalog: Catalog, selection: Selection): boolean {
    return isFileTool(name) && this.#names.includes(name) && catalog.offering(name, selection).length === 0;
  }

  /** The patch that a script of `exec_command` is; undefined for any other. */
  findPatch(toolName: string, { cmd }: Readonly<Record<string, unknown>>): PatchScript | undefined {
    if (toolName !== "exec_command" || !this.#names.includes("apply_patch")) return undefined;
    return typeof cmd === "string" ? parsePatchScript(cmd) : undefined;
  }

  async prepare(
    name: string,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared> {
    const { prepareFileTool } = await loadTools();
    return prepareFileTool(name as FileToolName, args, options, { ...context, connect: this.#connect }); // as it was offered
  }

  async prepareScript(
    script: PatchScript,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared> {
    const { prepareScript } = await loadTools();
    return prepareScript(script, args, options, { ...context, connect: this.#connect });
  }
}

/** They are loaded for the calls that use them. */
const loadTools = () => import("./carry-out.js");
