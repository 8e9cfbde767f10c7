import type { Orchestrator, OrchestratorOptions } from "./api.js";
import { OrchestratorError } from "./errors.js";
import { OrchestratorCore } from "./orchestrator.js";
import { fail } from "./result.js";

/** An orchestrator for a person: lists tools and runs programs, but does not execute calls of a model. */
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
 * Like `createOrchestrator`, without the policy, which takes a tenth of the start time of a command.
 * @throws OrchestratorError `bad_option` for a default that cannot be used.
 */
export const createProgramRunner = (options: ProgramRunnerOptions = {}): ProgramRunner =>
  new OrchestratorCore(options, () => ({
    handle: refuseCall,
    judge: refuseJudging,
    start: refuseStart,
    approvers: { add: () => () => {}, join: () => undefined },
    files: NO_FILES,
    fileTools: undefined,
    askingCommands: { answerProgram: async () => "unasked", answerHost: async () => "unasked", remove() {} },
    hostReports: { note() {} },
    checkPolicy() {},
  }));

const refuseCall = async () => fail("forbidden", "this orchestrator only runs programs of a person. Nothing was run.");

const refuseJudging = async () => ({ kind: "forbidden" as const, result: await refuseCall() });

const refuseStart = async () => ({ start: { kind: "refused" as const, result: await refuseCall() } });

const refuseFiles = async () => {
  throw new OrchestratorError("unsupported", "this orchestrator does not access files");
};

const NO_FILES = {
  read: refuseFiles,
  write: refuseFiles,
  stat: refuseFiles,
  list: refuseFiles,
  remove: refuseFiles,
  decide: refuseFiles,
  sandboxOf: refuseFiles,
};
