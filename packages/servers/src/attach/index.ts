export { type AttachArguments, runAttach } from "./run-attach.js";
