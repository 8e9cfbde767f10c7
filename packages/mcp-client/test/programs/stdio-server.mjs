// Run as a program: the server of the tests on stdin and stdout.
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createServer } from "./tools.mjs";

await createServer().connect(new StdioServerTransport());
