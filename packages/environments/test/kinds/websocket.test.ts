import { listenOwnServer } from "../../../exec-server/test/backend/own-server.js";
import { openAtAddress } from "./address.js";
import { describeKind } from "./body.js";

describeKind("an environment at an exec-server on a websocket", { open: () => openAtAddress(listenOwnServer) });
