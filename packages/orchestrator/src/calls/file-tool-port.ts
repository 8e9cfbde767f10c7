import type { PatchScript } from "@codex/apply-patch";
import type { Catalog } from "../catalog/catalog.js";
import type { Selection } from "../catalog/selection.js";
import type { Decider } from "../decide/decider.js";
import type { CallContext, CallPorts } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";
import type { Prepared } from "./prepared.js";

/** What a call of a file tool is prepared with. */
export interface FileToolContext extends Omit<CallContext, "decider"> {
  readonly createDecider: (environment: string) => Decider;
}

/** The tools for files that an orchestrator carries out itself. */
export interface FileToolPort {
  /** Whether a call of this tool is one of them. */
  offers(name: string, catalog: Catalog, selection: Selection): boolean;
  /** The patch that a script of `exec_command` is; undefined for any other. */
  findPatch(toolName: string, args: Readonly<Record<string, unknown>>): PatchScript | undefined;
  /** A call of one that is offered. */
  prepare(
    name: string,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared>;
  /** A script that is a patch, which is carried out instead. */
  prepareScript(
    script: PatchScript,
    args: Record<string, unknown>,
    options: CallToolOptions,
    context: FileToolContext,
  ): Promise<Prepared>;
}

/** What all calls share, and the tools for files; without any, none are offered. */
export interface HandlerPorts extends CallPorts {
  readonly fileTools: FileToolPort | undefined;
}
