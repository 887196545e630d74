const pageSize = 500;

/**
 * Reads a list page by page, up to `maxRows` rows, so that a long list is never in memory as a whole.
 *
 * @param readAfter - reads the rows after the given one, or the first rows, in an order that an index supports
 */
export async function* paginate<Row>(
  readAfter: (last: Row | undefined, limit: number) => Promise<Row[]>,
  maxRows = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  let last: Row | undefined;
  for (let left = maxRows; left > 0; left -= pageSize) {
    const limit = Math.min(pageSize, left);
    const rows = await readAfter(last, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

/** The same pages with each item made into another. */
export async function* mapPages<Item, Made>(
  pages: AsyncIterable<Item[]>,
  make: (item: Item) => Made,
): AsyncGenerator<Made[]> {
  for await (const page of pages) yield page.map(make);
}
