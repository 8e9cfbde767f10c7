import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { toRepr, toText } from "../values/repr.js";
import type { CallArguments, Value } from "../values/values.js";

/** `text.format(…)`: {} {0} {name}, each with !r or !s, and {{ }} for braces. */
export function formatBraces(text: string, args: CallArguments, budget: Budget): string {
  const fields = new Fields(args);
  const formatted = text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (match, field: string | undefined) => {
    if (match === "{{" || match === "}}") return match.slice(1);
    if (field === undefined) throw new Fault(`the format string has a single ${match}`, `Write ${match}${match}.`);
    const part = renderField(field, fields, budget);
    budget.allocate(part.length);
    return part;
  });
  budget.spend(text.length);
  budget.allocate(formatted.length);
  return formatted;
}

function renderField(field: string, fields: Fields, budget: Budget): string {
  const [, name = "", conversion] = /^([^!]*)(?:!(.*))?$/su.exec(field) ?? [];
  if (/[.[\],]/.test(name)) throw new Fault(`the field {${field}} is too complex`, "Use {}, {0} or {name}.");
  const value = fields.get(name);
  if (conversion === "r") return toRepr(value, budget);
  if (conversion === undefined || conversion === "s") return toText(value, budget);
  throw new Fault(`the field {${field}} has an unknown conversion`, "Use !r or !s.");
}

/** Numbers fields that have no name; a format string must not mix them with numbered fields. */
class Fields {
  private automatic = 0;
  private isNumbered = false;

  constructor(private readonly args: CallArguments) {}

  get(name: string): Value {
    if (name === "") {
      this.automatic += 1;
      return this.getNumbered(this.automatic - 1);
    }
    if (/^\d+$/.test(name)) {
      this.isNumbered = true;
      return this.getNumbered(Number(name));
    }
    const value = this.args.named.get(name);
    if (value === undefined) throw new Fault(`the format string needs the argument \`${name}\``);
    return value;
  }

  private getNumbered(index: number): Value {
    if (this.isNumbered && this.automatic > 0) {
      throw new Fault("the format string mixes {} with {0}", "Number all of its fields or none.");
    }
    const value = this.args.positional[index];
    if (value === undefined) {
      throw new Fault(`the format string needs more than ${this.args.positional.length} arguments`);
    }
    return value;
  }
}
