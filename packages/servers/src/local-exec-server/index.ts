export { createLocalExecServer } from "./create-local-exec-server.js";
export { WITHOUT_NATIVE } from "./without-native.js";
