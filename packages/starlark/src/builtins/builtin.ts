import type { CallArguments, CallContext, Value } from "../values/values.js";

/** The implementation of a built-in function. @throws Fault */
export type BuiltinFunction = (args: CallArguments, context: CallContext) => Value;

/** The same for a method of `self`. @throws Fault */
export type Method<T> = (self: T, args: CallArguments, context: CallContext) => Value;
