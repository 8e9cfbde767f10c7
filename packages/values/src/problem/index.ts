export { findProblem, formatArgumentProblem, formatProblem, PARSE_CONTEXT, type Problem } from "./problem.js";
