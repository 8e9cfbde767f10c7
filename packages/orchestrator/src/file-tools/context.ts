import type { FileToolContext } from "../calls/file-tool-port.js";
import type { ConnectFiles } from "../files/connect.js";

/** What a file tool is carried out with. */
export type CarryOutContext = FileToolContext & { readonly connect: ConnectFiles };
