export { findAnswerProblem } from "./find-answer-problem.js";
