export { COMMAND_FACE_CASES, type CommandEnd, type CommandFace, checkCommandFace } from "./check-command-face.js";
export { checkFace, type Face, type FaceAnswer, type FaceCheck } from "./check-face.js";
export { FACE_CASES, type FaceCase, type FaceStep, FILE_FACE_CASES } from "./face-cases.js";
