import { get } from "node:http";
import { attachView } from "@codex/view";
import { expect, it, onTestFinished } from "vitest";
import { MAX_RECORDINGS } from "../../src/limits.js";
import { connect } from "../support/client.js";
import { enter, send } from "../support/http.js";
import { openView, startSession } from "../support/orchestrators.js";

it("makes no more recordings at once than the limit, also for pages that ask and leave", async () => {
  const { orchestrator } = await openView();
  let made = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  // An executor that takes long to answer, and does not heed that the page has left.
  const slow = new Proxy(orchestrator, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "callTool") return value.bind(target);
      return async (tool: string, args: object, options: object) => {
        if (tool === "read_output") {
          made += 1;
          await released;
        }
        return orchestrator.callTool(tool, args, options);
      };
    },
  });
  const view = await attachView(slow);
  onTestFinished(() => view.close());
  onTestFinished(() => release());
  await startSession(orchestrator, { cmd: "echo hello; exec cat", stdin: "open" });
  const { id } = await (await connect(view.createLink("read"))).find(({ kind }) => kind === "session");
  const { base, bearer } = await enter(view.createLink("read"));
  const path = `${base}/recording/${id}`;
  for (let asked = 0; asked < MAX_RECORDINGS; asked += 1) {
    const request = get(path, { headers: bearer, agent: false });
    request.on("error", () => {});
    await expect.poll(() => made).toBe(asked + 1);
    request.destroy();
  }
  expect((await send(path, { headers: bearer })).status).toBe(503);
  expect(made).toBe(MAX_RECORDINGS);
  release();
  await expect.poll(async () => (await send(path, { headers: bearer })).status).toBe(200);
});
