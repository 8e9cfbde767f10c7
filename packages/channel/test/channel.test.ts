import { describeChannel } from "./contract.js";
import { memory, stdio, websocket } from "./transports.js";

for (const transport of [memory, stdio, websocket]) describeChannel(transport);
