const pageSize = 500;

/**
 * Reads a list to its end, or to `most` rows, page by page, so that a long one never lies in memory whole.
 *
 * @param readAfter - reads the next rows after one, or the first ones, in an order that has an index
 */
export async function* paginate<Row>(
  readAfter: (last: Row | undefined, limit: number) => Promise<Row[]>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  let last: Row | undefined;
  for (let left = most; left > 0; left -= pageSize) {
    const limit = Math.min(pageSize, left);
    const rows = await readAfter(last, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}
