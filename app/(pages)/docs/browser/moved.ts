/** Follows an old link to where its section is now. */
export function followMoved(): void {
  const link = document.querySelector<HTMLAnchorElement>(".moved:target a");
  if (link) location.replace(link.href);
}
