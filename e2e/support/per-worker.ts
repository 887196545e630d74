/** A fixture that each worker of Playwright makes once: `make` passes it to `use`, and clears it up afterwards. */
export function perWorker<Fixture>(make: (use: (fixture: Fixture) => Promise<void>) => Promise<void>) {
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from this pattern which fixtures it needs: none.
  const fixture = async ({}, use: (fixture: Fixture) => Promise<void>) => make(use);
  return [fixture, { scope: "worker" }] as [typeof fixture, { scope: "worker" }];
}
