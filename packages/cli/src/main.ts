#!/usr/bin/env node
import module from "node:module";

// Where Node has it (22.1 and newer), compiled code is kept between starts.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

const { runProgram } = await import("./program.js");
await runProgram(process.argv);
