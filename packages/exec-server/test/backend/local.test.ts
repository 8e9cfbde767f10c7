import { createLocalBackend } from "../../src/index.js";
import { describeBackend } from "./body.js";

describeBackend("the local backend", {
  extended: true,
  open: async () => ({ backend: createLocalBackend(), close: async () => {} }),
});
