/** Creates keys that count up: an executor recognizes a repeat of a forgotten key by its number. */
export function createKeySeries(series: string): () => string {
  let number = 0;
  return () => {
    number += 1;
    return `${series}#${number}`;
  };
}
