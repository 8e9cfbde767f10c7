/** Sessions belong to one instance of an executor: a new connection under the same name is another owner. */
export interface SessionOwner {
  readonly name: string;
}
