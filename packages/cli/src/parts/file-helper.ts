import "./first.js";
import { Socket } from "node:net";
import { serveFileHelper } from "@codex/host-files";

void serveFileHelper({
  input: new Socket({ fd: 0, readable: true, writable: false }),
  output: new Socket({ fd: 1, readable: false, writable: true }),
});
