import { Fault } from "../errors.js";
import type { Names } from "../syntax/scopes.js";
import type { Environment, Value } from "../values/values.js";

/** The variables of a running module, function or comprehension. */
export class Frame implements Environment {
  private readonly values = new Map<string, Value>();

  constructor(
    private readonly names: Names,
    private readonly parent: Environment | undefined,
  ) {}

  get(name: string): Value {
    const value = this.values.get(name);
    if (value !== undefined) return value;
    if (this.names.has(name)) throw new Fault(`\`${name}\` is used before it has a value`, "Assign it first.");
    if (this.parent === undefined) throw new Fault(`the name \`${name}\` is not defined`);
    return this.parent.get(name);
  }

  set(name: string, value: Value): void {
    this.values.set(name, value);
  }
}
