import { describeChannel } from "./contract.js";
import { memory, stdio, tunnel, websocket } from "./transports.js";

for (const transport of [memory, stdio, websocket, tunnel]) describeChannel(transport);
