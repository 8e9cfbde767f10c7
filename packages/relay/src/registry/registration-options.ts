/** Command-line options with which an executor registers. */
export interface RegistrationWords {
  environmentId?: string | undefined;
  /** Each `NAME=VALUE`. */
  label?: readonly string[] | undefined;
}

/** Parses the id and labels of a registration. @throws Error that names the invalid value */
export function parseRegistration({ environmentId, label = [] }: RegistrationWords) {
  const id = environmentId?.trim() ?? "";
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(id)) {
    const given = environmentId === undefined ? "is needed" : `${JSON.stringify(id)} is not valid`;
    throw new Error(`--environment-id ${given}: 1 to 256 letters, digits, - and _`);
  }
  return { environmentId: id, labels: Object.fromEntries(label.map(parseLabel)) };
}

function parseLabel(text: string): [name: string, value: string] {
  const [, name, value] = /^([\w.-]{1,64})=(.{0,256})$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new Error(`--label ${JSON.stringify(text)}: expected NAME=VALUE, of at most 64 and 256 characters`);
}
