import { createLocalEnvironment } from "@codex/local";
import { describeKind } from "./body.js";

describeKind("the environment of this host", {
  hasConnection: false,
  async open() {
    const environment = createLocalEnvironment();
    return { environment, close: () => environment.close() };
  },
});
