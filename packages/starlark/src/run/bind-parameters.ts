import { Fault } from "../errors.js";
import type { Parameter } from "../syntax/syntax.js";
import { type CallArguments, DictValue, type FunctionValue, TupleValue, type Value } from "../values/values.js";

/** Gives every parameter of a function its value, through `set`. */
export function bindParameters(
  callee: FunctionValue,
  args: CallArguments,
  set: (name: string, value: Value) => void,
): void {
  const binding = new Binding(callee, args);
  callee.definition.parameters.forEach((parameter, index) => {
    if (parameter.name !== undefined) set(parameter.name, binding.take(parameter, index));
    else binding.endPositional();
  });
  binding.checkAllTaken();
}

class Binding {
  private readonly named: Map<string, Value>;
  private position = 0;
  private isPositionalOver = false;

  constructor(
    private readonly callee: FunctionValue,
    private readonly args: CallArguments,
  ) {
    this.named = new Map(args.named);
  }

  endPositional(): void {
    this.isPositionalOver = true;
  }

  take(parameter: Parameter, index: number): Value {
    const name = parameter.name ?? "";
    if (parameter.kind === "star") return this.takeRest();
    if (parameter.kind === "double-star") return this.takeNamedRest();
    const positional = this.isPositionalOver ? undefined : this.args.positional[this.position];
    const named = this.named.get(name);
    if (positional !== undefined) {
      if (named !== undefined) throw new Fault(`the argument \`${name}\` of ${this.callee.name}() is given twice`);
      this.position += 1;
      return positional;
    }
    this.named.delete(name);
    const value = named === undefined ? this.callee.defaults[index] : named;
    if (value === undefined) throw new Fault(`${this.callee.name}() needs the argument \`${name}\``);
    return value;
  }

  private takeRest(): TupleValue {
    this.isPositionalOver = true;
    const rest = this.args.positional.slice(this.position);
    this.position = this.args.positional.length;
    return new TupleValue(rest);
  }

  private takeNamedRest(): DictValue {
    const rest = new DictValue();
    for (const [key, value] of this.named) rest.entries.set(`"${key}`, [key, value]);
    this.named.clear();
    return rest;
  }

  checkAllTaken(): void {
    const extra = this.args.positional.length - this.position;
    if (extra > 0) throw new Fault(`${this.callee.name}() is given ${extra} positional arguments too many`);
    const [unknown] = this.named.keys();
    if (unknown !== undefined) throw new Fault(`${this.callee.name}() has no parameter \`${unknown}\``);
  }
}
