import { describeBackend } from "../../exec-server/test/backend/body.js";
import { createLocalBackend } from "../src/local-backend.js";

describeBackend("the local backend", {
  extended: true,
  open: async () => ({ backend: createLocalBackend(), close: async () => {} }),
});
