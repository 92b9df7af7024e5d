/** Where a fact stands: the sequence and the time of its row. */
export interface Place {
  readonly seq: number;
  readonly at: number;
}
