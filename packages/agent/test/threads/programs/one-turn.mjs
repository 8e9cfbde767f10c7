// One turn in a process of its own, so that it can be killed: prints the thread's id, then the first output of a command.
import { createAgent, createResponsesModel, resolveProvider } from "@codex/agent";
import { createThreadStore } from "@codex/agent/node";
import { createLocalOrchestrator } from "@codex/local";

const [, , home, base_url] = process.argv;
const config = { model_provider: "mine", model_providers: { mine: { name: "Mine", base_url } } };
const { provider } = resolveProvider({ config, env: {} });
const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false } });
const agent = createAgent({ orchestrator, model: createResponsesModel({ provider }), modelName: "test-model" });
const store = createThreadStore({ home, version: "test" });
const { id, file } = await store.create({ cwd: process.cwd(), modelProvider: provider.id });
console.log(id);
for await (const event of agent.startThread({ id, recorder: file }).run("go")) {
  if (event.type === "item_delta") process.stdout.write(event.text);
}
