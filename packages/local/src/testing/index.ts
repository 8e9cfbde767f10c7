export { checkFace, type Face, type FaceAnswer, type FaceCheck } from "./check-face.js";
export { FACE_CASES, type FaceCase, type FaceStep } from "./face-cases.js";
