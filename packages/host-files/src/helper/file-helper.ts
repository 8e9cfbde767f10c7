import { Socket } from "node:net";
import { refuseInspector } from "@codex/native";
import { serveFileHelper } from "./serve-file-helper.js";

refuseInspector();

// Entry point of the helper process; see `defaultHelperCommand`.
await serveFileHelper({
  input: new Socket({ fd: 0, readable: true, writable: false }),
  output: new Socket({ fd: 1, readable: false, writable: true }),
});
