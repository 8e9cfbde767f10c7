export { answerFirstRequest, type StdioBeginning } from "./answer-on-stdio.js";
