import type { Orchestrator, OrchestratorOptions } from "./api.js";
import { OrchestratorError } from "./errors.js";
import { OrchestratorCore } from "./orchestrator.js";
import { fail } from "./result.js";

/** An orchestrator for a person: lists tools and runs programs, and carries out no calls of a model. */
export type ProgramRunner = Omit<
  Orchestrator,
  "approvers" | "callTool" | "startCall" | "judge" | "startCommand" | "files" | "createConversation"
>;

/** The options of an orchestrator that do not concern calls of a model. */
export type ProgramRunnerOptions = Pick<
  OrchestratorOptions,
  "executors" | "defaults" | "onProblem" | "onOffline" | "onOnline"
>;

/**
 * As `createOrchestrator`, without what judges calls: that takes a tenth of the time in which a command starts.
 * @throws OrchestratorError `bad_option` for a default that cannot be used.
 */
export const createProgramRunner = (options: ProgramRunnerOptions = {}): ProgramRunner =>
  new OrchestratorCore(options, () => ({
    handle: refuseCall,
    judge: refuseJudging,
    start: refuseStart,
    approvers: { add: () => () => {}, join: () => undefined },
    files: NO_FILES,
    checkPolicy() {},
  }));

const refuseCall = async () => fail("forbidden", "only programs of a person are run here. Nothing was run.");

const refuseJudging = async () => ({ kind: "forbidden" as const, result: await refuseCall() });

const refuseStart = async () => ({ start: { kind: "refused" as const, result: await refuseCall() } });

const refuseFiles = async () => {
  throw new OrchestratorError("unsupported", "files are not accessed here");
};

const NO_FILES = { read: refuseFiles, write: refuseFiles, stat: refuseFiles, list: refuseFiles, remove: refuseFiles };
