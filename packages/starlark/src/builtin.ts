import type { CallArguments, CallContext, Value } from "./values.js";

export type BuiltinFunction = (args: CallArguments, context: CallContext) => Value;
