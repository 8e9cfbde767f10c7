export { foldCase } from "./fold-case.js";
export {
  type CompiledGate,
  compileGate,
  type GateRule,
  GateRuleError,
  type GateRules,
  type HostExecutable,
  type OptionName,
  type OutsideProfile,
  type Place,
} from "./gate-rule.js";
export { hasOption } from "./has-option.js";
export { judgeProgram, type Program, type ProgramDecision } from "./judge-program.js";
export {
  MAX_APPROVED_CHARACTERS,
  MAX_APPROVED_PROGRAMS,
  MAX_GATE_CHARACTERS,
  MAX_GATE_RULES,
  MAX_JUDGED_WORDS,
} from "./limits.js";
export type { ProgramQuestion, ProgramVerdict, QuestionLimits } from "./program-question.js";
export type { ProgramReport, ReportReason } from "./program-report.js";
export { type SelectedEnvironment, selectEnvironment } from "./select-environment.js";
