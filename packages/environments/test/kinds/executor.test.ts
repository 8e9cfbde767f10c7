import { execServer, openExecutor } from "../support.js";
import { openAtAddress } from "./address.js";
import { describeKind } from "./body.js";

describeKind("an environment at an executor on a websocket, with an exec-server beside it", {
  open: () => openAtAddress(() => openExecutor({ execServer })),
});
