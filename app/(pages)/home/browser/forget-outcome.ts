/** Takes how a checkout ended out of the address: a page that is opened again does not say it again. */
export function forgetOutcome(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("checkout")) return;
  address.searchParams.delete("checkout");
  history.replaceState(null, "", address);
}
