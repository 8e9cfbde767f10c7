import { parentPort, workerData } from "node:worker_threads";
import type { ThreadData } from "./messages.js";
import { runStarter } from "./starter.js";
import { runSupervisor } from "./supervisor.js";

const data = workerData as ThreadData; // of `openGate`
if (data.role === "starter") runStarter(data, parentPort!);
else runSupervisor(data, parentPort!);
