/** What a phase made of the model's words, or why it cannot: the field and a sentence that says what to do. */
export type Resolved<T> = { kind: "ok"; value: T } | Rejected;

export interface Rejected {
  kind: "rejected";
  /** Path of the argument, such as `additional_permissions.file_system.read.0`; empty for the arguments as a whole. */
  field: string;
  problem: string;
}

export const rejected = (field: string, problem: string): Rejected => ({ kind: "rejected", field, problem });
