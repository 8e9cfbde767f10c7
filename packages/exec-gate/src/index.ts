export {
  type CompiledGate,
  compileGate,
  type GateRule,
  GateRuleError,
  type HostExecutable,
  type Place,
} from "./gate-rule.js";
export { judgeProgram, type Program, type ProgramDecision } from "./judge-program.js";
