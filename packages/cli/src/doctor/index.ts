export { type Check, type Finding, type Row, runChecks } from "./check.js";
export { CHECKS } from "./checks.js";
export { isProgram } from "./find-program.js";
