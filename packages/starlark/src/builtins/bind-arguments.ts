import { Fault } from "../errors.js";
import type { CallArguments, Value } from "../values/values.js";

/** The positional arguments of a call that takes between `least` and `most` of them and no named ones. */
export function getPositional(
  name: string,
  args: CallArguments,
  least: number,
  most: number = least,
): readonly Value[] {
  checkNoNamed(name, args);
  const count = args.positional.length;
  if (count >= least && count <= most) return args.positional;
  const expected = least === most ? `${least}` : `${least} to ${most}`;
  throw new Fault(`${name}() takes ${expected} arguments, ${count} were given`);
}

export function checkNoNamed(name: string, args: CallArguments, allowed: readonly string[] = []): void {
  for (const key of args.named.keys()) {
    if (!allowed.includes(key)) throw new Fault(`${name}() has no parameter \`${key}\``, getKnownNames(allowed));
  }
}

function getKnownNames(names: readonly string[]): string {
  return names.length === 0 ? "Give its arguments without names." : `Its parameters are ${names.join(", ")}.`;
}

export interface Signature {
  readonly name: string;
  /** In positional order. */
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[];
  /** Parameters that can only be given by name. */
  readonly namedOnly?: readonly string[];
}

/** The arguments of a call by parameter name; parameters that were not given are missing. */
export function bindArguments(signature: Signature, args: CallArguments): ReadonlyMap<string, Value> {
  const { name, parameters, namedOnly = [] } = signature;
  const names = parameters.map((parameter) => parameter.name);
  const bound = new Map<string, Value>();
  if (args.positional.length > names.length) {
    throw new Fault(
      `${name}() takes at most ${names.length} positional arguments, ${args.positional.length} were given`,
    );
  }
  args.positional.forEach((value, index) => {
    bound.set(names[index] ?? "", value);
  });
  checkNoNamed(name, args, [...names, ...namedOnly]);
  for (const [key, value] of args.named) {
    if (bound.has(key)) throw new Fault(`the argument \`${key}\` of ${name}() is given twice`);
    bound.set(key, value);
  }
  const missing = parameters.find((parameter) => parameter.required && !bound.has(parameter.name));
  if (missing !== undefined) throw new Fault(`${name}() needs the argument \`${missing.name}\``);
  return bound;
}
