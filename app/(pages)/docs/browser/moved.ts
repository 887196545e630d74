/** Follows an old link to where its section is now. */
export function followMoved(): void {
  const notice = document.getElementById(location.hash.slice(1));
  const link = notice?.matches(".moved") && notice.querySelector("a");
  if (link) location.replace(link.href);
}
